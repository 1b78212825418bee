/**
 * Invariant 4: for every script, balance = sum of its UTXOs = what the latest start gave it + sum of its accepted net changes since =
 * sum of its changes by hour; the sum over all scripts is the circulating supply. The UTXOs are exactly the UTXOs of the latest start and
 * the outputs of transactions accepted since that no transaction accepted since spends, each change by hour is that of the
 * transactions accepted in it, no balance was negative at the end of any hour, and what is counted and marked for a script is so. What else
 * is summed up is in rollups.ts.
 */
import type { Queryable } from './queryable.ts';
import { checkRollups } from './rollups.ts';

/** State counts from the latest start: what was accepted before is in its UTXOs, or was spent by then. */
const ACCEPTED = `
  accepted as (
    select t.id, t.subnetwork_id, accepting.daa_score
    from chain_blocks c
    join blocks accepting on accepting.id = c.block_id
    join transactions t on t.accepting_block_id = accepting.id
    where c.index > (select coalesce(max(chain_index), -1) from starts)
  )`;

const SELECT_WRONG_START = `
  select s.utxo_count, s.utxo_sompi::text, count(u.amount) as count, coalesce(sum(u.amount), 0)::text as sompi
  from (select * from starts order by chain_index desc limit 1) s left join start_utxos u on true
  group by s.utxo_count, s.utxo_sompi
  having s.utxo_count <> count(u.amount) or s.utxo_sompi <> coalesce(sum(u.amount), 0)`;

const SELECT_WRONG_UTXOS = `
  with ${ACCEPTED},
  made as (
    select transaction_id, index, script_id, amount, block_daa_score, is_coinbase from start_utxos
    union all
    select o.transaction_id, o.index::bigint, o.script_id, o.amount, a.daa_score, a.subnetwork_id = 1
    from accepted a join transaction_outputs o on o.transaction_id = a.id
  ),
  expected as (
    select * from made
    where not exists (
      select from transaction_inputs i join accepted spending on spending.id = i.transaction_id
      where i.previous_transaction_id = made.transaction_id and i.previous_index = made.index
    )
  ),
  stored as (select transaction_id, index, script_id, amount, block_daa_score, is_coinbase from utxos)
  select 'missing' as fault, * from (table expected except all table stored) missing
  union all
  select 'wrong' as fault, * from (table stored except all table expected) wrong
  limit 20`;

/** What `balances` says of a script, beside what the rows that it sums up say. */
const SELECT_WRONG_BALANCES = `
  with ${ACCEPTED},
  of_utxos as (select script_id, sum(amount) as amount, count(*) as count from utxos group by script_id),
  of_start as (select script_id, sum(amount) as amount from start_utxos group by script_id),
  of_earlier_starts as (select distinct script_id from start_balances),
  of_transactions as (
    select a.script_id, count(*) as count,
      coalesce(sum(a.amount_received - a.amount_sent) filter (where accepted.id is not null), 0) as amount
    from address_transactions a left join accepted on accepted.id = a.transaction_id
    group by a.script_id
  ),
  of_hours as (select script_id, sum(change) as amount from balance_changes group by script_id)
  select script_id, b.balance, coalesce(u.amount, 0) as utxos, coalesce(s.amount, 0) as start, coalesce(t.amount, 0) as transactions,
    coalesce(h.amount, 0) as hours, b.utxo_count, coalesce(u.count, 0) as utxos_counted, b.transaction_count,
    coalesce(t.count, 0) as transactions_counted
  from balances b
  full join of_utxos u using (script_id)
  full join of_start s using (script_id)
  full join of_earlier_starts e using (script_id)
  full join of_transactions t using (script_id)
  full join of_hours h using (script_id)
  where (b.script_id is null and coalesce(u.script_id, s.script_id, e.script_id, t.script_id) is not null)
    or (b.script_id is not null and coalesce(s.script_id, e.script_id, t.script_id) is null)
    or coalesce(b.balance, 0) <> coalesce(u.amount, 0)
    or coalesce(b.balance, 0) <> coalesce(s.amount, 0) + coalesce(t.amount, 0)
    or coalesce(b.balance, 0) <> coalesce(h.amount, 0)
    or b.utxo_count <> coalesce(u.count, 0) or b.transaction_count <> coalesce(t.count, 0)
  limit 20`;

/**
 * By chain_time of the accepting blocks. What a start finds beyond the balances before it is a change in its hour too: its UTXO set less all
 * that counts since the start before.
 */
const SELECT_WRONG_HOURS = `
  with parts as (
    select s.chain_index, c.chain_time / 3600000 as hour, lead(s.chain_index) over by_index as next_index,
      lead(c.chain_time) over by_index / 3600000 as next_hour
    from starts s join chain_blocks c on c.index = s.chain_index
    window by_index as (order by s.chain_index)
  ),
  held as (
    select script_id, (select max(chain_index) from starts) as chain_index, amount from start_utxos
    union all
    select script_id, chain_index, balance from start_balances
  ),
  counted as (
    select held.script_id, parts.hour, parts.next_hour, held.amount from held join parts using (chain_index)
    union all
    select a.script_id, c.chain_time / 3600000, parts.next_hour, a.amount_received - a.amount_sent
    from parts
    join chain_blocks c on c.index > parts.chain_index and c.index <= coalesce(parts.next_index, 9223372036854775807)
    cross join unnest(c.accepted_transactions) as accepted (id)
    join address_transactions a on a.transaction_id = accepted.id
  ),
  expected as (
    select script_id, hour, sum(amount) as change from (
      select script_id, hour, amount from counted
      union all
      select script_id, next_hour, -amount from counted where next_hour is not null
    ) moved
    group by script_id, hour
  )
  select script_id, hour, coalesce(s.change, 0) as stored, coalesce(e.change, 0) as changes
  from balance_changes s full join expected e using (script_id, hour)
  where coalesce(s.change, 0) <> coalesce(e.change, 0)
  limit 20`;

/** Each hour ends with a chain block, and no script ever held less than nothing. */
const SELECT_NEGATIVE_HOURS = `
  select script_id, hour, running::text from (
    select script_id, hour, sum(change) over (partition by script_id order by hour) as running from balance_changes
  ) summed
  where running < 0
  limit 20`;

/** The UTXO sets of starts before the latest are known by script alone. */
const SELECT_WRONG_START_BALANCES = `
  select chain_index, s.utxo_sompi::text, sum(b.balance)::text as sompi
  from (select * from starts where chain_index < (select max(chain_index) from starts)) s full join start_balances b using (chain_index)
  group by chain_index, s.utxo_sompi, s.balances_known
  having s.balances_known is distinct from false and s.utxo_sompi is distinct from coalesce(sum(b.balance), 0)
  limit 20`;

/** Exact but in clusters that still wait in tag_marks. */
const SELECT_WRONGLY_TAGGED = `
  with recursive tree as (
    select script_id, script_id as root from cluster_members where parent_id is null
    union all
    select m.script_id, tree.root from tree join cluster_members m on m.parent_id = tree.script_id
  ),
  expected as (
    select id as script_id from scripts where address in (select address from tags)
    union
    select tree.script_id from tree join clusters c on c.id = tree.root where c.name is not null
  ),
  waiting as (select tree.root from tag_marks join tree using (script_id))
  select script_id, b.is_tagged from balances b left join expected e using (script_id) left join tree using (script_id)
  where b.is_tagged <> (e.script_id is not null) and (tree.root is null or tree.root not in (select root from waiting))
  limit 20`;

/** Net changes recomputed from inputs and outputs; a transaction counts its UTXOs whether it was accepted or not. */
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

interface WrongStart {
  utxo_count: bigint;
  utxo_sompi: string;
  count: bigint;
  sompi: string;
}

interface WrongBalance {
  script_id: bigint;
  /** Null where `balances` has no row. */
  balance: bigint | null;
  utxos: string;
  start: string;
  transactions: string;
  hours: string;
  utxo_count: bigint | null;
  utxos_counted: bigint;
  transaction_count: bigint | null;
  transactions_counted: bigint;
}

function describeBalance(row: WrongBalance): string {
  return (
    `script ${row.script_id}: balance ${row.balance}, sum of UTXOs ${row.utxos}, at the start ${row.start} and accepted changes since ` +
    `${row.transactions}, sum of changes by hour ${row.hours}; ${row.utxo_count} UTXOs of ${row.utxos_counted} counted, ` +
    `${row.transaction_count} transactions of ${row.transactions_counted}`
  );
}

/** What is wrong, one sentence each (the first 20 of a kind); empty when the invariant holds. */
export async function checkInvariant4(db: Queryable): Promise<string[]> {
  const supply = await db.query<{ first_catch_up: boolean; circulating: string; balances: string }>(SELECT_SUPPLY);
  const [checkpoint] = supply.rows;
  if (checkpoint === undefined) return ['there is no checkpoint'];
  if (checkpoint.first_catch_up) return ['the first catch-up is not over, balances are not kept yet'];
  const starts = await db.query<WrongStart>(SELECT_WRONG_START);
  const utxos = await db.query<{ fault: string; transaction_id: bigint; index: bigint }>(SELECT_WRONG_UTXOS);
  const balances = await db.query<WrongBalance>(SELECT_WRONG_BALANCES);
  const hours = await db.query<{ script_id: bigint; hour: number; stored: string; changes: string }>(
    SELECT_WRONG_HOURS,
  );
  const negative = await db.query<{ script_id: bigint; hour: number; running: string }>(SELECT_NEGATIVE_HOURS);
  const startBalances = await db.query<{ chain_index: bigint; utxo_sompi: string | null; sompi: string | null }>(
    SELECT_WRONG_START_BALANCES,
  );
  const tagged = await db.query<{ script_id: bigint; is_tagged: boolean }>(SELECT_WRONGLY_TAGGED);
  const changes = await db.query<{ script_id: bigint; transaction_id: bigint }>(SELECT_WRONG_CHANGES);
  return [
    ...starts.rows.map(
      (row) =>
        `the latest start has ${row.utxo_count} UTXOs of ${row.utxo_sompi} sompi, its rows are ${row.count} of ${row.sompi}`,
    ),
    ...utxos.rows.map((row) => `UTXO ${row.index} of transaction ${row.transaction_id} is ${row.fault}`),
    ...balances.rows.map(describeBalance),
    ...hours.rows.map(
      (row) =>
        `script ${row.script_id}: change ${row.stored} in hour ${row.hour}, sum of its accepted changes ${row.changes}`,
    ),
    ...negative.rows.map(
      ({ script_id, hour, running }) => `script ${script_id}: its changes up to hour ${hour} sum up to ${running}`,
    ),
    ...startBalances.rows.map(
      (row) =>
        `the start at ${row.chain_index} had UTXOs of ${row.utxo_sompi} sompi, its scripts are said to hold ${row.sompi}`,
    ),
    ...tagged.rows.map((row) => `script ${row.script_id} is ${row.is_tagged ? '' : 'not '}marked as tagged`),
    ...changes.rows.map((row) => `script ${row.script_id}: wrong change by transaction ${row.transaction_id}`),
    ...(checkpoint.circulating === checkpoint.balances
      ? []
      : [`circulating supply ${checkpoint.circulating}, sum of all balances ${checkpoint.balances}`]),
    ...(await checkRollups(db)),
  ];
}
