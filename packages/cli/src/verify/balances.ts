/**
 * Invariant 4: for every script, balance = sum of its UTXOs = sum of its accepted net changes = sum of its changes by hour; the sum over
 * all scripts is the circulating supply. The UTXOs are exactly the outputs of accepted transactions that no accepted transaction
 * spends, each change by hour is that of the transactions accepted in it, and what is counted and marked for a script is so.
 */
import type { Queryable } from './queryable.ts';

const SELECT_WRONG_UTXOS = `
  with expected as (
    select o.transaction_id, o.index::bigint, o.script_id, o.amount, accepting.daa_score as block_daa_score,
      t.subnetwork_id = 1 as is_coinbase
    from transactions t
    join blocks accepting on accepting.id = t.accepting_block_id
    join transaction_outputs o on o.transaction_id = t.id
    where not exists (
      select from transaction_inputs i join transactions spending on spending.id = i.transaction_id
      where i.previous_transaction_id = o.transaction_id and i.previous_index = o.index and spending.accepting_block_id is not null
    )
  ),
  stored as (select transaction_id, index, script_id, amount, block_daa_score, is_coinbase from utxos)
  select 'missing' as fault, * from (table expected except table stored) missing
  union all
  select 'wrong' as fault, * from (table stored except table expected) wrong
  limit 20`;

/** What `balances` says of a script, beside what the rows that it sums up say. */
const SELECT_WRONG_BALANCES = `
  with of_utxos as (select script_id, sum(amount) as amount, count(*) as count from utxos group by script_id),
  of_transactions as (
    select a.script_id, count(*) as count,
      coalesce(sum(a.amount_received - a.amount_sent) filter (where t.accepting_block_id is not null), 0) as amount
    from address_transactions a join transactions t on t.id = a.transaction_id
    group by a.script_id
  ),
  of_hours as (select script_id, sum(change) as amount from balance_changes group by script_id)
  select script_id, b.balance, coalesce(u.amount, 0) as utxos, coalesce(t.amount, 0) as transactions,
    coalesce(h.amount, 0) as hours, b.utxo_count, coalesce(u.count, 0) as utxos_counted, b.transaction_count,
    coalesce(t.count, 0) as transactions_counted
  from balances b
  full join of_utxos u using (script_id)
  full join of_transactions t using (script_id)
  full join of_hours h using (script_id)
  where b.script_id is null or t.script_id is null
    or b.balance <> coalesce(u.amount, 0) or b.balance <> t.amount or b.balance <> coalesce(h.amount, 0)
    or b.utxo_count <> coalesce(u.count, 0) or b.transaction_count <> t.count
  limit 20`;

const SELECT_WRONG_HOURS = `
  with expected as (
    select a.script_id, accepting.timestamp / 3600000 as hour, sum(a.amount_received - a.amount_sent) as change
    from address_transactions a
    join transactions t on t.id = a.transaction_id
    join blocks accepting on accepting.id = t.accepting_block_id
    group by a.script_id, accepting.timestamp / 3600000
  )
  select script_id, hour, coalesce(s.change, 0) as stored, coalesce(e.change, 0) as changes
  from balance_changes s full join expected e using (script_id, hour)
  where coalesce(s.change, 0) <> coalesce(e.change, 0)
  limit 20`;

const SELECT_WRONGLY_TAGGED = `
  with expected as (
    select s.id as script_id from scripts s
    left join cluster_members m on m.script_id = s.id
    left join clusters c on c.id = m.cluster_id
    where s.address in (select address from tags) or c.name is not null
  )
  select script_id, b.is_tagged from balances b left join expected e using (script_id)
  where b.is_tagged <> (e.script_id is not null)
  limit 20`;

/** Net changes recomputed from inputs and outputs; a transaction counts its coins whether it was accepted or not. */
const SELECT_WRONG_CHANGES = `
  with moves as (
    select script_id, transaction_id, amount as sent, 0 as received from transaction_inputs where script_id is not null
    union all
    select script_id, transaction_id, 0, amount from transaction_outputs
  ),
  expected as (
    select script_id, transaction_id, sum(sent)::bigint as sent, sum(received)::bigint as received
    from moves group by script_id, transaction_id
  ),
  stored as (select script_id, transaction_id, amount_sent, amount_received from address_transactions)
  select script_id, transaction_id from (
    (table expected except table stored) union all (table stored except table expected)
  ) wrong
  limit 20`;

const SELECT_SUPPLY = `
  select first_catch_up, circulating_sompi::text as circulating, coalesce((select sum(balance) from balances), 0)::text as balances
  from checkpoint`;

interface WrongBalance {
  script_id: bigint;
  /** Null where `balances` has no row. */
  balance: bigint | null;
  utxos: string;
  transactions: string;
  hours: string;
  utxo_count: bigint | null;
  utxos_counted: bigint;
  transaction_count: bigint | null;
  transactions_counted: bigint;
}

function describeBalance(row: WrongBalance): string {
  return (
    `script ${row.script_id}: balance ${row.balance}, sum of UTXOs ${row.utxos}, of accepted changes ${row.transactions}, ` +
    `of changes by hour ${row.hours}; ${row.utxo_count} UTXOs of ${row.utxos_counted} counted, ` +
    `${row.transaction_count} transactions of ${row.transactions_counted}`
  );
}

/** What is wrong, one sentence each (the first 20 of a kind); empty when the invariant holds. */
export async function checkInvariant4(db: Queryable): Promise<string[]> {
  const supply = await db.query<{ first_catch_up: boolean; circulating: string; balances: string }>(SELECT_SUPPLY);
  const [checkpoint] = supply.rows;
  if (checkpoint === undefined) return ['there is no checkpoint'];
  if (checkpoint.first_catch_up) return ['the first catch-up is not over, balances are not kept yet'];
  const utxos = await db.query<{ fault: string; transaction_id: bigint; index: bigint }>(SELECT_WRONG_UTXOS);
  const balances = await db.query<WrongBalance>(SELECT_WRONG_BALANCES);
  const hours = await db.query<{ script_id: bigint; hour: number; stored: string; changes: string }>(
    SELECT_WRONG_HOURS,
  );
  const tagged = await db.query<{ script_id: bigint; is_tagged: boolean }>(SELECT_WRONGLY_TAGGED);
  const changes = await db.query<{ script_id: bigint; transaction_id: bigint }>(SELECT_WRONG_CHANGES);
  return [
    ...utxos.rows.map((row) => `UTXO ${row.index} of transaction ${row.transaction_id} is ${row.fault}`),
    ...balances.rows.map(describeBalance),
    ...hours.rows.map(
      (row) =>
        `script ${row.script_id}: change ${row.stored} in hour ${row.hour}, sum of its accepted changes ${row.changes}`,
    ),
    ...tagged.rows.map((row) => `script ${row.script_id} is ${row.is_tagged ? '' : 'not '}marked as tagged`),
    ...changes.rows.map((row) => `script ${row.script_id}: wrong change by transaction ${row.transaction_id}`),
    ...(checkpoint.circulating === checkpoint.balances
      ? []
      : [`circulating supply ${checkpoint.circulating}, sum of all balances ${checkpoint.balances}`]),
  ];
}
