/** Completes an input and the fee of its transaction when the spent transaction is written later (docs/architecture.md). */
import { MAX_SOMPI } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';

/** Transactions that have just been written: those from a key on, and pre-bootstrap ones, which have lower keys. */
export interface NewlyWritten {
  from: number;
  preBootstrap: readonly number[];
}

/** A script of the completed inputs of a transaction. */
interface Completed {
  transaction: number;
  /** Null if the transaction touches it through other inputs or outputs, too. */
  newScript: number | null;
}

export async function resolveLateInputs(
  client: ClientBase,
  { from, preBootstrap }: NewlyWritten,
): Promise<Completed[]> {
  return [...(await resolvePending(client, from)), ...(await completeSpent(client, preBootstrap))];
}

export async function resolveAllLateInputs(client: ClientBase): Promise<void> {
  await resolvePending(client, 0);
  const { rows } = await client.query<{ id: bigint }>(
    'select t.id from earlier_transactions e join transactions t on t.id = e.id',
  );
  await completeSpent(
    client,
    rows.map(({ id }) => Number(id)),
  );
}

/** Completes inputs that name a transaction by its id. @param from the least key of a transaction that may have been written since */
async function resolvePending(client: ClientBase, from: number): Promise<Completed[]> {
  const pending = await client.query("select from transaction_inputs where previous_transaction_hash <> '' limit 1");
  if (pending.rowCount === 0) return [];
  return await complete(
    client,
    `update transaction_inputs i
        set previous_transaction_id = p.id,
            previous_transaction_hash = '',
            amount = coalesce(
              (select o.amount from transaction_outputs o where o.transaction_id = p.id and o.index = i.previous_index),
              (select u.amount from start_utxos u where u.transaction_id = p.id and u.index = i.previous_index)),
            script_id = coalesce(
              (select o.script_id from transaction_outputs o where o.transaction_id = p.id and o.index = i.previous_index),
              (select u.script_id from start_utxos u where u.transaction_id = p.id and u.index = i.previous_index))
       from (select id, transaction_id from transactions where id >= $1
             union all
             select id, transaction_id from earlier_transactions where id >= $1) p
      where p.transaction_id = i.previous_transaction_hash and i.previous_transaction_hash <> ''`,
    [from],
  );
}

/** Completes inputs that name a transaction by its key and have no amount. */
async function completeSpent(client: ClientBase, transactions: readonly number[]): Promise<Completed[]> {
  if (transactions.length === 0) return [];
  return await complete(
    client,
    `update transaction_inputs i
        set amount = o.amount, script_id = o.script_id
       from transaction_outputs o
      where i.previous_transaction_id = any($1::bigint[]) and i.amount is null
        and o.transaction_id = i.previous_transaction_id and o.index = i.previous_index`,
    [transactions],
  );
}

/** Postgres reads `script_deltas` as it was before the update; `offset 0` keeps it from hashing all of it. */
async function complete(client: ClientBase, update: string, values: unknown[]): Promise<Completed[]> {
  const { rows } = await client.query<{ transaction_id: bigint; script_id: bigint | null; is_new: boolean }>(
    `with resolved as (${update} returning i.transaction_id, i.script_id)
     select transaction_id, script_id,
            not exists (select from script_deltas d
                         where d.script_id = resolved.script_id and d.transaction_id = resolved.transaction_id offset 0) as is_new
       from resolved group by transaction_id, script_id`,
    values,
  );
  if (rows.length === 0) return [];
  await client.query(
    `update transactions t
        set fee = summed.fee
       from unnest($1::bigint[]) completed (id)
      cross join lateral (
        select (select sum(i.amount) from transaction_inputs i where i.transaction_id = completed.id)
             - (select coalesce(sum(o.amount), 0) from transaction_outputs o where o.transaction_id = completed.id) as fee) summed
      where t.id = completed.id and summed.fee between 0 and $2::bigint
        and not exists (select from transaction_inputs i where i.transaction_id = t.id and i.amount is null)`,
    [rows.map((row) => row.transaction_id), MAX_SOMPI],
  );
  return rows.map(({ transaction_id, script_id, is_new }) => ({
    transaction: Number(transaction_id),
    newScript: script_id !== null && is_new ? Number(script_id) : null,
  }));
}
