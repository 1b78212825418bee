/**
 * Invariant 4: for every script, balance = sum of its UTXOs = sum of its accepted net changes; the sum over all scripts is the
 * circulating supply. And the UTXOs are exactly the outputs of accepted transactions that no accepted transaction spends.
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

const SELECT_WRONG_BALANCES = `
  with of_utxos as (select script_id, sum(amount) as amount from utxos group by script_id),
  of_changes as (
    select a.script_id, sum(a.amount_received - a.amount_sent) as amount
    from address_transactions a join transactions t on t.id = a.transaction_id
    where t.accepting_block_id is not null
    group by a.script_id
  )
  select script_id, coalesce(b.balance, 0) as balance, coalesce(u.amount, 0) as utxos, coalesce(c.amount, 0) as changes
  from balances b full join of_utxos u using (script_id) full join of_changes c using (script_id)
  where coalesce(b.balance, 0) <> coalesce(u.amount, 0) or coalesce(b.balance, 0) <> coalesce(c.amount, 0)
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

/** What is wrong, one sentence each (the first 20 of a kind); empty when the invariant holds. */
export async function checkInvariant4(db: Queryable): Promise<string[]> {
  const supply = await db.query<{ first_catch_up: boolean; circulating: string; balances: string }>(SELECT_SUPPLY);
  const [checkpoint] = supply.rows;
  if (checkpoint === undefined) return ['there is no checkpoint'];
  if (checkpoint.first_catch_up) return ['the first catch-up is not over, balances are not kept yet'];
  const utxos = await db.query<{ fault: string; transaction_id: bigint; index: bigint }>(SELECT_WRONG_UTXOS);
  const balances = await db.query<{ script_id: bigint; balance: bigint; utxos: string; changes: string }>(
    SELECT_WRONG_BALANCES,
  );
  const changes = await db.query<{ script_id: bigint; transaction_id: bigint }>(SELECT_WRONG_CHANGES);
  return [
    ...utxos.rows.map((row) => `UTXO ${row.index} of transaction ${row.transaction_id} is ${row.fault}`),
    ...balances.rows.map(
      (row) =>
        `script ${row.script_id}: balance ${row.balance}, sum of UTXOs ${row.utxos}, of accepted changes ${row.changes}`,
    ),
    ...changes.rows.map((row) => `script ${row.script_id}: wrong change by transaction ${row.transaction_id}`),
    ...(checkpoint.circulating === checkpoint.balances
      ? []
      : [`circulating supply ${checkpoint.circulating}, sum of all balances ${checkpoint.balances}`]),
  ];
}
