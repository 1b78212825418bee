/**
 * Cuts the chain at the first chain block of a generation: afterwards the index is one that was
 * bootstrapped there. Everything that takes long happens before any lock that others could wait
 * for: rows of the older generations that blocks above the cut still carry, merge or refer to are
 * copied, the UTXO set is replaced, and so on, invisibly to others. These rows are below finality,
 * so batches concern few of them meanwhile, which `catchUp` adds. The end takes milliseconds: the
 * older partitions are detached, those with the kept rows are attached, and the start and the
 * checkpoint change, all in the same transaction.
 */
import type { Network } from '@kasgres/kaspa';
import { holdBackfill } from '@kasgres/state';
import type { ClientBase } from 'pg';
import { firstKeyOf } from '../apply/generations.ts';
import type { CutPoint } from './cut-point.ts';
import { restartFrom } from './next-bootstrap.ts';
import {
  catchUp,
  copyKept,
  countRemovedCopies,
  forgetOutputs,
  type PreparedCut,
  readUnchecked,
  spendsRemoved,
  type UtxoSum,
} from './prepared-cut.ts';
import {
  BLOCK_TABLES,
  keptPartition,
  listPartitionsBefore,
  PARTITIONED_TABLES,
  TRANSACTION_TABLES,
} from './partitions.ts';
import {
  type Border,
  findBlocks,
  findBorder,
  findReferences,
  findRemovedChainBlocks,
  findTransactions,
  stays,
} from './find-kept.ts';

/**
 * Statements that wait longer for a lock fail, and the end of the cut is tried again later. New
 * readers wait behind it meanwhile.
 */
const LOCK_TIMEOUT = '20ms';
const WORK_MEMORY = '128MB';

/** Must run inside the transaction that makes the cut, when the next bootstrap block is staged. */
export async function prepareCut(
  client: ClientBase,
  cut: CutPoint,
  { finalityDepth }: Pick<Network, 'finalityDepth'>,
): Promise<PreparedCut> {
  await holdBackfill(client);
  await client.query(`set local work_mem = '${WORK_MEMORY}'`);
  const unchecked = await readUnchecked(client);
  const bound = firstKeyOf(cut.generation);
  const border = await findBorder(client, cut, bound, finalityDepth);
  await findBlocks(client, cut, bound, border);
  await findTransactions(client, bound);
  await client.query(
    'create temporary table cut_copies (transaction_id bigint primary key, blocks bigint) on commit drop',
  );
  await countRemovedCopies(
    client,
    bound,
    `select id from cut_kept_transactions
      union
     select bt.transaction_id from cut_removed_blocks removed
       join block_transactions bt on bt.block_id = removed.id`,
  );
  await replaceBootstrap(client);
  await findReferences(client, bound, border);
  await findRemovedChainBlocks(client, cut, bound);
  await copyKept(client, cut);
  await forgetSpentOutputs(client, cut, bound);
  await removeStragglers(client, cut, border);
  await client.query(`update chain_blocks set accepted_transactions = '{}' where index = $1`, [cut.chainIndex]);
  const utxos = await sumUtxos(client);
  return { cut, unchecked, utxos };
}

/**
 * Must run when no batch is being written, soon after `catchUp`. @returns `busy`, with the
 * transaction as before, if somebody reads for too long; `outdated` if the cut must be prepared
 * again
 */
export async function completeCut(client: ClientBase, prepared: PreparedCut): Promise<'cut' | 'busy' | 'outdated'> {
  const { cut, unchecked } = prepared;
  await client.query('savepoint complete_cut');
  try {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query('select from checkpoint for update');
    if ((await catchUp(client, prepared)) === 'outdated') return 'outdated';
    await client.query(
      `lock table ${PARTITIONED_TABLES.map((table) => `only ${table}`).join(', ')} in access exclusive mode`,
    );
    await exchangePartitions(client, cut);
    await writeBootstrapBlock(client, prepared);
    return 'cut';
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    await client.query('rollback to savepoint complete_cut');
    prepared.unchecked = unchecked;
    return 'busy';
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '55P03' || error.code === '40P01');
}

/**
 * Updates what is kept of repeated transactions and contested outputs. Batches change these, too,
 * so this must run at the end.
 */
async function forgetRemovedCopies(client: ClientBase): Promise<void> {
  await client.query(
    `update repeated_transactions r set block_count = r.block_count - removed.blocks
       from cut_copies removed where r.transaction_id = removed.transaction_id`,
  );
  await client.query(
    `delete from repeated_transactions r
      where block_count <= 16 or not exists (select from transactions t
        where t.id = r.transaction_id)`,
  );
  await client.query(
    `update contested_outputs c set spender_id = null
      where spender_id is not null
        and not exists (select from transactions t
          where t.id = c.spender_id and (t.accepting_index is not null or is_pre_bootstrap(t.id)))`,
  );
}

/** Deletes rows of outputs that a cut has removed. Nobody reads these, and nothing waits for it. */
export async function forgetContested(client: ClientBase): Promise<void> {
  await client.query(
    `delete from contested_outputs c
      where not exists (select from transactions t where t.id = c.transaction_id)
        and not exists (select from pre_bootstrap_transactions e where e.id = c.transaction_id)`,
  );
}

/** A bootstrap block above the first chain block is that of a gap. */
const IS_ABOVE_GAP = `
  (select max(chain_index) from bootstrap_blocks) > (select min(index) from chain_blocks)`;

/**
 * `pre_bootstrap_transactions` keeps the ones that are still needed to name removed outputs until
 * `forgetSpentOutputs`. The set of a gap may have outputs of transactions that were accepted before
 * it and have rows only.
 */
async function replaceBootstrap(client: ClientBase): Promise<void> {
  await client.query('analyze next_bootstrap_created, next_bootstrap_spent');
  await client.query(
    `delete from bootstrap_utxos u using next_bootstrap_spent s
      where u.transaction_id = s.transaction_id and u.index = s.index`,
  );
  await client.query(
    `insert into bootstrap_utxos (transaction_id, script_id, amount, block_daa_score, index, is_coinbase, covenant_id)
     select transaction_id, script_id, amount, block_daa_score, index, is_coinbase, covenant_id
       from next_bootstrap_created
      order by transaction_id, index`,
  );
  await client.query(
    `insert into pre_bootstrap_transactions (id, transaction_id)
     select t.id, t.transaction_id from (
       select transaction_id from next_bootstrap_created
       union
       select transaction_id from bootstrap_utxos
        where ${IS_ABOVE_GAP}) held
       join transactions t on t.id = held.transaction_id
      order by 1
     on conflict (id) do nothing`,
  );
}

/**
 * Forgets outputs that were spent before the cut, and names that only these needed, also those of
 * sets before a gap.
 */
async function forgetSpentOutputs(client: ClientBase, cut: CutPoint, bound: number): Promise<void> {
  await client.query(
    `create temporary table cut_lost (
       transaction_id bigint, index smallint, previous_transaction_id bigint, amount bigint,
       script_id bigint, is_named boolean, is_new boolean) on commit drop`,
  );
  await client.query('create index on cut_lost (transaction_id)');
  await client.query('create index on cut_lost (previous_transaction_id)');
  await client.query('create index on cut_lost (is_new) where is_new');
  const isLost = spendsRemoved(bound);
  await client.query('create temporary table cut_unnamed (id bigint primary key, transaction_id bytea) on commit drop');
  await forgetOutputs(client, cut, [
    `transaction_inputs i
      where i.previous_transaction_id < ${bound} and i.transaction_id >= ${bound}
        and ${isLost}
        and i.transaction_id not in (select id from cut_removed_transactions)`,
    `cut_kept_transactions kept join transaction_inputs i on i.transaction_id = kept.id
      where ${isLost}`,
    `cut_removed_transactions removed join transaction_inputs i on i.previous_transaction_id = removed.id
      where ${stays('transactions', 'i.transaction_id', bound)}`,
  ]);
  await client.query(
    `with unnamed as (
       delete from pre_bootstrap_transactions e using (
         select transaction_id as id from next_bootstrap_spent
         union
         select id from pre_bootstrap_transactions where ${IS_ABOVE_GAP}) former
        where e.id = former.id
          and not exists (select from bootstrap_utxos u where u.transaction_id = e.id)
       returning e.id, e.transaction_id)
     insert into cut_unnamed select id, transaction_id from unnamed`,
  );
}

/**
 * Rows of the new generation that belong below the cut: what its first chain block merges and
 * accepts, and what reorgs near it left.
 */
async function removeStragglers(client: ClientBase, cut: CutPoint, border: Border): Promise<void> {
  // Before acceptance below the cut is forgotten. Batches change inscriptions of transactions above
  // it only.
  await client.query(
    'delete from inscriptions i using transactions t where t.id = i.transaction_id and t.accepting_index <= $1',
    [cut.chainIndex],
  );
  await client.query(
    `update transactions t set accepting_index = null, accepted_variant = null
       from (select unnest(accepted_transactions) as id from chain_blocks
         where index <= $1 and blue_score >= $2) accepted
      where t.id = accepted.id and t.id >= $3 and t.accepting_index <= $1`,
    [cut.chainIndex, border.from, firstKeyOf(cut.generation)],
  );
  await client.query('delete from change_links where chain_index <= $1', [cut.chainIndex]);
  await client.query('delete from covenant_events where chain_index <= $1', [cut.chainIndex]);
  await client.query('delete from lane_blocks where chain_index <= $1', [cut.chainIndex]);
  for (const [table, key] of Object.entries(BLOCK_TABLES)) {
    await client.query(`delete from ${table} rows using cut_removed_blocks removed where rows.${key} = removed.id`);
  }
  for (const [table, key] of Object.entries(TRANSACTION_TABLES)) {
    await client.query(
      `delete from ${table} rows using cut_removed_transactions removed where rows.${key} = removed.id`,
    );
  }
}

async function exchangePartitions(client: ClientBase, { generation }: CutPoint): Promise<void> {
  for (const { table, name } of await listPartitionsBefore(client, generation)) {
    await client.query(`alter table ${table} detach partition ${name}`);
  }
  const bound = firstKeyOf(generation);
  for (const table of [...Object.keys(BLOCK_TABLES), ...Object.keys(TRANSACTION_TABLES)]) {
    await client.query(
      `alter table ${table} attach partition ${keptPartition(table, generation)} for
        values from (minvalue) to (${bound})`,
    );
  }
  await client.query('delete from generations where generation < $1', [generation]);
}

async function sumUtxos(client: ClientBase): Promise<UtxoSum> {
  const { rows } = await client.query<UtxoSum>(
    `select s.utxo_count + created.count - spent.count as count,
      (s.utxo_sompi + created.sompi - spent.sompi)::bigint as sompi
       from (select * from bootstrap_blocks order by chain_index desc limit 1) s,
            (select count(*), coalesce(sum(amount), 0) as sompi
              from next_bootstrap_created) created,
            (select count(*), coalesce(sum(amount), 0) as sompi from next_bootstrap_spent) spent`,
  );
  if (rows[0] === undefined) throw new Error('there is no bootstrap block');
  return rows[0];
}

async function writeBootstrapBlock(client: ClientBase, { cut, utxos }: PreparedCut): Promise<void> {
  await client.query(
    'insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi) values ($1, $2, $3, $4)',
    [cut.chainIndex, cut.blockId, utxos.count, utxos.sompi],
  );
  await client.query('delete from bootstrap_blocks where chain_index < $1', [cut.chainIndex]);
  await client.query('delete from bootstrap_balances');
  // Batches delete from these, too.
  await client.query('delete from seen_before where chain_index <= $1', [cut.chainIndex]);
  await client.query(
    'delete from removed_chain_blocks r using cut_removed_chain_blocks removed where r.block_id = removed.block_id',
  );
  await client.query('delete from gaps');
  await forgetRemovedCopies(client);
  await client.query(
    `delete from late_transactions late
      where late.id < $1 and not exists (select from transactions t where t.id = late.id)
        and not exists (select from pre_bootstrap_transactions e where e.id = late.id)`,
    [firstKeyOf(cut.generation)],
  );
  await restartFrom(client, cut);
  await client.query('update checkpoint set version = next_version(version), updated_at = clock_timestamp()');
}
