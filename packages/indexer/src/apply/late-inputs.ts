/**
 * Completes inputs that were written before the transaction that they spend (docs/architecture.md).
 * Miners can save up any number of them, so a transaction that arrives after inputs that spend it
 * is only noted in `late_transactions`, and each batch completes a bounded number of inputs.
 *
 * Until then such an input has no amount, and no accepted transaction has one: what it spends was
 * accepted before, so it is noted, and the batch that accepts a transaction completes its inputs at
 * once. All others wait while retention prepares a cut, which changes inputs, too, and holds their
 * locks.
 */
import { inTransaction, type TransactionKey, transactionIdIs } from '@kasgres/database';
import type { SpentOutput } from '@kasgres/state';
import type { ClientBase } from 'pg';

/**
 * A batch completes this many inputs more than it writes, so that the backlog shrinks. They take
 * some 50 milliseconds.
 */
const INPUTS_PER_BATCH = 1000;

/**
 * Transactions that have just been written: those from a key on, and pre-bootstrap ones, which have
 * lower keys.
 */
interface NewlyWritten {
  from: number;
  preBootstrap: readonly number[];
}

interface OfBatch extends NewlyWritten {
  /** Transactions that the batch accepts and that were written earlier. */
  accepted: readonly TransactionKey[];
  /** How many inputs the batch writes. */
  written: number;
}

interface LateInput {
  /** Key of the transaction that the input spends. */
  late: bigint;
  /** The id by which the input names it; empty if it names it by its key. */
  name: Buffer;
  transaction: bigint;
  previousIndex: bigint;
  /** Where the row is: a transaction may have 12,000 inputs and no index of them by position. */
  partition: bigint;
  tid: string;
}

const INPUT =
  'i.transaction_id as transaction, i.previous_index as "previousIndex", i.tableoid::bigint as partition, i.ctid::text as tid';

interface Completed {
  /**
   * The scripts that each transaction touches through the completed inputs, and not through others.
   */
  scripts: number[];
  /** The outputs that the inputs spend. */
  outputs: SpentOutput[];
}

interface Portion extends Completed {
  /** Those with the inputs. */
  transactions: bigint[];
  isDone: boolean;
}

const NONE: Completed = { scripts: [], outputs: [] };

/** @param isCutting is called when the transaction has locked the checkpoint */
export async function resolveLateInputs(
  client: ClientBase,
  batch: OfBatch,
  isCutting: () => boolean = () => false,
): Promise<Completed> {
  // No EXISTS, which would ignore the order: it makes Postgres use the index, regardless of what it
  // expects to find.
  const { rows } = await client.query<{ unresolved: boolean | null; late: boolean }>(
    `select (select true from transaction_inputs where amount is null
      order by previous_transaction_hash limit 1) as unresolved,
            exists (select from late_transactions) as late`,
  );
  const noted = rows[0]?.unresolved === true ? await noteLateTransactions(client, batch) : 0;
  if (noted === 0 && rows[0]?.late !== true) return NONE;
  const accepted = await completeAccepted(client, batch.accepted);
  if (isCutting()) return accepted;
  const portion = await completePortion(client, INPUTS_PER_BATCH + batch.written);
  return { scripts: [...accepted.scripts, ...portion.scripts], outputs: [...accepted.outputs, ...portion.outputs] };
}

/**
 * Completes all inputs. Each portion is a transaction, so this must run outside of one, before
 * derived state is computed from all rows.
 *
 * The names are sorted (DISTINCT ON) and looked up in a B-tree. Miners can make any number of names
 * to which Postgres gives the same hash, and grouping or joining these by hash takes the square of
 * their number: hours for a million, which a few hundred blocks hold.
 */
export async function resolveAllLateInputs(client: ClientBase): Promise<void> {
  await client.query(
    `with named as materialized (
       select distinct on (previous_transaction_hash) previous_transaction_hash as id
         from transaction_inputs where amount is null and previous_transaction_hash <> ''
        order by previous_transaction_hash)
     insert into late_transactions (id, transaction_id)
     select t.id, t.transaction_id from named
       join transactions t on ${transactionIdIs('t', 'named.id')}
     union
     select e.id, named.id from named cross join lateral (
       select id from pre_bootstrap_transactions where transaction_id = named.id offset 0) e
     union
     select t.id, '' from pre_bootstrap_transactions e join transactions t on t.id = e.id
         on conflict do nothing`,
  );
  for (let isDone = false; !isDone; ) {
    isDone = await inTransaction(client, async () => {
      const portion = await completePortion(client, INPUTS_PER_BATCH);
      await client.query(
        `update transactions set fee = inputs_minus_outputs(id)
          where id = any($1::bigint[]) and accepting_index is not null and fee is null`,
        [portion.transactions],
      );
      return portion.isDone;
    });
  }
}

/**
 * Notes the transactions that arrive after inputs that spend them. Inputs name pre-bootstrap ones
 * by the keys that these have already.
 */
async function noteLateTransactions(client: ClientBase, { from, preBootstrap }: NewlyWritten): Promise<number> {
  const { rowCount } = await client.query(
    `insert into late_transactions (id, transaction_id)
     select written.id, written.transaction_id
       from (select id, transaction_id from transactions where id >= $1
             union all
             select id, transaction_id from pre_bootstrap_transactions where id >= $1) written
      cross join lateral (
        select from transaction_inputs i
          where i.amount is null and i.previous_transaction_hash = written.transaction_id
         order by coalesce(i.previous_transaction_id, 0), i.transaction_id limit 1) spending
     union all
     select written.id, ''
       from unnest($2::bigint[]) written (id)
      cross join lateral (
        select from transaction_inputs i
         where i.amount is null and i.previous_transaction_hash = ''
           and coalesce(i.previous_transaction_id, 0) = written.id
         order by i.transaction_id limit 1) spending
         on conflict do nothing`,
    [from, preBootstrap],
  );
  return rowCount ?? 0;
}

/** A transaction without a fee may have such inputs. */
async function completeAccepted(client: ClientBase, accepted: readonly TransactionKey[]): Promise<Completed> {
  const { rows } = await client.query<LateInput>(
    `select late.id as late, late.transaction_id as name, ${INPUT}
       from unnest($1::bigint[]) accepted (id)
      cross join lateral (select id from transactions
        where id = accepted.id and fee is null offset 0) t
      cross join lateral (
        select tableoid, ctid, * from transaction_inputs
          where transaction_id = t.id and amount is null offset 0) i
      cross join lateral (
        select id, transaction_id from late_transactions
         where transaction_id = i.previous_transaction_hash
           and (transaction_id <> '' or id = i.previous_transaction_id) offset 0) late`,
    [accepted],
  );
  return await complete(client, rows);
}

/** Completes up to this many inputs, of the late transactions that arrived first. */
async function completePortion(client: ClientBase, limit: number): Promise<Portion> {
  const { rows } = await client.query<LateInput>(
    `select late.id as late, late.transaction_id as name, ${INPUT}
       from (select * from late_transactions order by id, transaction_id limit $1) late
      cross join lateral (
        select tableoid, ctid, transaction_id, previous_index from transaction_inputs
         where amount is null and previous_transaction_hash = late.transaction_id
           and coalesce(previous_transaction_id, 0) = case when late.transaction_id = ''
             then late.id else 0 end
           and transaction_id >= late.from_transaction
         order by transaction_id limit $1) i
      limit $1`,
    [limit],
  );
  const completed = { ...(await complete(client, rows)), transactions: rows.map(({ transaction }) => transaction) };
  const last = rows.length === limit ? rows.at(-1) : undefined;
  if (last === undefined) {
    const { rowCount } = await client.query(
      `delete from late_transactions
        where (id, transaction_id) in (select id, transaction_id from late_transactions
          order by id, transaction_id limit $1)`,
      [limit],
    );
    return { ...completed, isDone: (rowCount ?? 0) < limit };
  }
  // Later portions do not pass the index entries of the completed inputs again, which remain while
  // an old snapshot is open.
  await client.query('update late_transactions set from_transaction = $3 where id = $1 and transaction_id = $2', [
    last.late,
    last.name,
    last.transaction,
  ]);
  await client.query('delete from late_transactions where (id, transaction_id) < ($1, $2)', [last.late, last.name]);
  return { ...completed, isDone: false };
}

/**
 * Postgres reads `script_deltas` as it was before the update; `offset 0` keeps it from hashing all
 * of it.
 */
async function complete(client: ClientBase, inputs: readonly LateInput[]): Promise<Completed> {
  if (inputs.length === 0) return NONE;
  const { rows } = await client.query<{ transaction_id: bigint; script_id: bigint | null; is_new: boolean }>(
    `with resolved as (
       update transaction_inputs i
          set previous_transaction_id = late.id, previous_transaction_hash = '',
            amount = utxo.amount, script_id = utxo.script_id
         from unnest($1::bigint[], $2::bigint[], $3::oid[], $4::tid[]) late (id, previous_index,
           partition, tid)
         left join lateral (
           select amount, script_id from transaction_outputs o
            where o.transaction_id = late.id and o.index = late.previous_index
              and o.index >> 4 = late.previous_index >> 4
           union all
           select amount, script_id from bootstrap_utxos u
             where u.transaction_id = late.id and u.index = late.previous_index
            limit 1) utxo on true
        where i.ctid = late.tid and i.tableoid = late.partition
          and (i.previous_transaction_hash <> '' or utxo.amount is not null)
       returning i.transaction_id, i.script_id)
     select transaction_id, script_id,
            not exists (select from script_deltas d
                         where d.script_id = resolved.script_id
                           and d.transaction_id = resolved.transaction_id offset 0) as is_new
       from resolved group by transaction_id, script_id`,
    [
      inputs.map(({ late }) => late),
      inputs.map(({ previousIndex }) => previousIndex),
      inputs.map(({ partition }) => partition),
      inputs.map(({ tid }) => tid),
    ],
  );
  return {
    outputs: inputs.map(({ late, previousIndex }) => ({ transaction: Number(late), index: Number(previousIndex) })),
    scripts: rows.flatMap(({ script_id, is_new }) => (script_id !== null && is_new ? [Number(script_id)] : [])),
  };
}
