/**
 * The rows that a prepared cut has copied, and the outputs that it has forgotten. Both stay current
 * while batches are written.
 * Besides the temporary tables of find-kept.ts, there are
 * - `cut_more`: the transactions that are copied now,
 * - `cut_copies`: how many removed blocks contain a transaction that stays,
 * - `cut_lost`: inputs whose output is no longer known, with the output,
 * - `cut_unsettled`: copied transactions whose accepted variant is not known yet,
 * - `cut_unnamed`: transactions that lost their row in `pre_bootstrap_transactions`.
 */
import type { ClientBase } from 'pg';
import { firstKeyOf } from '../apply/generations.ts';
import type { CutPoint } from './cut-point.ts';
import { stays } from './find-kept.ts';
import { BLOCK_TABLES, keptPartition, TRANSACTION_TABLES } from './partitions.ts';

export interface PreparedCut {
  cut: CutPoint;
  /** Tells which rows were written since `catchUp` read them. */
  unchecked: Unchecked;
  /** The UTXO set of the new bootstrap block: its size, and the sum of it in sompi. */
  utxos: UtxoSum;
}

interface Unchecked {
  /** Rows from these two keys on. */
  block: bigint;
  transaction: bigint;
  /** Acceptance above this chain block, which is far enough below the sink that it stays. */
  chainIndex: number;
  chainBlock: bigint;
}

export interface UtxoSum {
  count: bigint;
  sompi: bigint;
}

/** Nodes remove some ten chain blocks at most, unless their network splits. */
const REORG_DEPTH = 100;

/**
 * Adds what batches have written since the last call. Miners can carry any old transaction again in
 * every block, and spend any old output, so a cut that was prepared again for that would never end.
 * @returns `outdated` if rows refer to what the cut has deleted already: the few rows of the new
 * generation that belong below it
 */
export async function catchUp(client: ClientBase, prepared: PreparedCut): Promise<'current' | 'outdated'> {
  const { cut, unchecked } = prepared;
  const next = await readUnchecked(client);
  if (await isOutdated(client, prepared)) return 'outdated';
  const bound = firstKeyOf(cut.generation);
  if ((await findMore(client, prepared)) > 0) {
    await client.query('delete from cut_copies copies using cut_more more where copies.transaction_id = more.id');
    await countRemovedCopies(client, bound, 'select id from cut_more');
    await restoreOutputs(client, cut);
    await copyTransactions(client, cut);
  }
  await forgetOutputs(client, cut, [
    `transaction_inputs i
      where i.transaction_id >= ${unchecked.transaction} and ${spendsRemoved(bound)}`,
    `cut_more more join transaction_inputs i on i.transaction_id = more.id
      where ${spendsRemoved(bound)}`,
  ]);
  prepared.unchecked = next;
  return 'current';
}

/** Whether an input `i` spends an output of a known transaction that the cut removes. */
export const spendsRemoved = (bound: number): string =>
  `i.previous_transaction_id is not null and not ${stays('transactions', 'i.previous_transaction_id', bound)}`;

export async function readUnchecked(client: ClientBase): Promise<Unchecked> {
  const { rows } = await client.query<Unchecked>(
    `select p.next_block_id as block, p.next_transaction_id as transaction,
       c.index::float8 as "chainIndex", c.block_id as "chainBlock"
       from checkpoint p
       join chain_blocks c on c.index = greatest(p.chain_index - ${REORG_DEPTH},
         (select min(index) from chain_blocks))`,
  );
  if (rows[0] === undefined) throw new Error('there is no checkpoint');
  return rows[0];
}

/** Whether a deep reorg happened, or rows refer to what the cut has deleted already. */
async function isOutdated(client: ClientBase, { cut, unchecked }: PreparedCut): Promise<boolean> {
  const bound = firstKeyOf(cut.generation);
  const { rows } = await client.query<{ outdated: boolean }>(
    `select not exists (
         select from chain_blocks where index = $2 and block_id = $3)
       or exists (
         select from block_transactions
          where block_id >= $1 and transaction_id in (select id from cut_removed_transactions))
       or exists (
         select from block_parents
          where block_id >= $1 and not ${stays('blocks', 'parent_id', bound)}
            and parent_id not in (select id from pre_bootstrap_blocks)) as outdated`,
    [unchecked.block, unchecked.chainIndex, unchecked.chainBlock],
  );
  return rows[0]?.outdated === true;
}

/**
 * Finds older transactions that new blocks carry, perhaps in new variants, and kept ones whose
 * acceptance may have changed: never by comparing all of them, which batches would wait for. Late
 * inputs are completed meanwhile for transactions that are accepted only (late-inputs.ts).
 */
async function findMore(client: ClientBase, { cut, unchecked }: PreparedCut): Promise<number> {
  await client.query('truncate cut_more');
  const { rowCount } = await client.query(
    `insert into cut_more
     select transaction_id from block_transactions where block_id >= $1 and transaction_id < $2
     union
     select changed.id from (
         select unnest(accepted_transactions) as id from chain_blocks where index > $3
         union all
         select unnest(accepted_transactions) from removed_chain_blocks where block_id > $4
         union all
         select t.id from cut_unsettled join transactions t using (id)
          where t.accepted_variant is not null) changed
      where changed.id < $2
        and exists (
          select from cut_kept_transactions kept where kept.id = changed.id offset 0)`,
    [unchecked.block, firstKeyOf(cut.generation), unchecked.chainIndex, unchecked.chainBlock],
  );
  await client.query('analyze cut_more');
  await client.query('insert into cut_kept_transactions select id from cut_more on conflict do nothing');
  return rowCount ?? 0;
}

/**
 * Counts the removed blocks that contain a transaction that stays.
 * @param ids selects transactions
 */
export async function countRemovedCopies(client: ClientBase, bound: number, ids: string): Promise<void> {
  await client.query(
    `insert into cut_copies
     select bt.transaction_id, count(*) as blocks
       from (${ids}) stay join block_transactions bt on bt.transaction_id = stay.id
      where not ${stays('blocks', 'bt.block_id', bound)}
      group by bt.transaction_id`,
  );
}

/** Copies what stays of the older generations, under its keys, into separate partitions. */
export async function copyKept(client: ClientBase, cut: CutPoint): Promise<void> {
  const partitions = [...Object.keys(BLOCK_TABLES), ...Object.keys(TRANSACTION_TABLES)].map((table) => ({
    table,
    partition: keptPartition(table, cut.generation),
  }));
  for (const { table, partition } of partitions) {
    await client.query('select make_partition($1, $2)', [table, partition]);
  }
  for (const [table, key] of Object.entries(BLOCK_TABLES)) await copyRows(client, cut, table, key, 'cut_kept_blocks');
  await client.query('create temporary table cut_more on commit drop as table cut_kept_transactions');
  await client.query('create temporary table cut_unsettled (id bigint primary key) on commit drop');
  await copyTransactions(client, cut);
  for (const { partition } of partitions) await client.query(`analyze ${partition}`);
}

/** Copies the transactions `cut_more`, again if they have been copied before. */
async function copyTransactions(client: ClientBase, cut: CutPoint): Promise<void> {
  const transactions = keptPartition('transactions', cut.generation);
  for (const [table, key] of Object.entries(TRANSACTION_TABLES)) await copyRows(client, cut, table, key, 'cut_more');
  await client.query(
    `update ${transactions} set accepting_index = null, accepted_variant = null
      where accepting_index <= $1 and id in (select id from cut_more)`,
    [cut.chainIndex],
  );
  await client.query('delete from cut_unsettled where id in (select id from cut_more)');
  await client.query(
    `insert into cut_unsettled select id from cut_more join ${transactions} t using (id)
      where t.accepting_index is not null and t.accepted_variant is null`,
  );
}

async function copyRows(
  client: ClientBase,
  { generation }: CutPoint,
  table: string,
  key: string,
  from: string,
): Promise<void> {
  const partition = keptPartition(table, generation);
  await client.query(`delete from ${partition} rows using ${from} kept where rows.${key} = kept.id`);
  await client.query(
    `insert into ${partition} select rows.* from ${from} kept join ${table} rows on rows.${key} = kept.id`,
  );
}

/** Where the cut changes inputs, with the transactions that have them. */
const inputTables = (generation: number): [inputs: string, transactions: string, lost: string][] => [
  // Rows of older generations are changed in their copies only, so that no batch waits for the cut.
  [
    'transaction_inputs',
    'transactions',
    `(select * from cut_lost where is_new and transaction_id >= ${firstKeyOf(generation)})`,
  ],
  [
    keptPartition('transaction_inputs', generation),
    keptPartition('transactions', generation),
    '(select * from cut_lost where is_new)',
  ],
];

/** Restores inputs that spend outputs of `cut_more`, which will be copied. */
async function restoreOutputs(client: ClientBase, { generation }: CutPoint): Promise<void> {
  await client.query('update cut_lost set is_new = false where is_new');
  await client.query('update cut_lost set is_new = true where previous_transaction_id in (select id from cut_more)');
  for (const [inputs, , lost] of inputTables(generation)) {
    await client.query(
      `update ${inputs} i set previous_transaction_id = lost.previous_transaction_id,
              previous_transaction_hash = '', amount = lost.amount, script_id = lost.script_id
         from ${lost} lost where i.transaction_id = lost.transaction_id and i.index = lost.index`,
    );
  }
  await client.query('delete from cut_lost where is_new');
  await client.query('delete from cut_lost where transaction_id in (select id from cut_more)');
}

/**
 * Remaining transactions may have inputs whose output was spent before the cut, since blocks may
 * carry what is never accepted. As after a bootstrap, such an output is not known: its transaction
 * is named by its id, or by its key if the UTXO set has another output of it.
 * @param inputs of FROM clauses, each with a condition
 */
export async function forgetOutputs(client: ClientBase, { generation }: CutPoint, inputs: string[]): Promise<void> {
  await client.query('update cut_lost set is_new = false where is_new');
  await client.query(`insert into cut_lost ${inputs.map(lostOf).join(' union ')}`);
  await client.query('analyze cut_lost');
  for (const [table, transactions, lost] of inputTables(generation)) {
    await client.query(
      `update ${table} i set amount = null, script_id = null,
              previous_transaction_id = case when lost.is_named then i.previous_transaction_id end,
              previous_transaction_hash = case when lost.is_named then '' else coalesce(
                (select t.transaction_id from transactions t
                  where t.id = i.previous_transaction_id),
                (select e.transaction_id from pre_bootstrap_transactions e
                  where e.id = i.previous_transaction_id),
                (select u.transaction_id from cut_unnamed u where u.id = i.previous_transaction_id),
                (select removed.transaction_id from cut_removed_transactions removed
                  where removed.id = i.previous_transaction_id)) end
         from ${lost} lost where i.transaction_id = lost.transaction_id and i.index = lost.index`,
    );
    await client.query(
      `update ${transactions} t set fee = null from ${lost} lost
        where t.id = lost.transaction_id and t.subnetwork_id <> 1`,
    );
  }
}

/** Selects inputs whose output is not in the UTXO set of the cut. */
const lostOf = (inputs: string): string => `
  select i.transaction_id, i.index, i.previous_transaction_id, i.amount, i.script_id,
         exists (select from bootstrap_utxos u
           where u.transaction_id = i.previous_transaction_id) as is_named, true as is_new
    from ${inputs}
     and not exists (
       select from bootstrap_utxos u
         where u.transaction_id = i.previous_transaction_id and u.index = i.previous_index)`;
