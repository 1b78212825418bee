/**
 * Applies a batch in one transaction (invariant 1), if it was computed from the stored checkpoint
 * (invariant 2).
 */
import { copyRows, inPipeline, inTransaction } from '@kasgres/database';
import { applyState, BalanceDeltas, collectState, columnsOf, type StateChanges } from '@kasgres/state';
import type { ClientBase } from 'pg';
import { CheckpointMovedError, IncompleteUpdateError } from '../errors.ts';
import type { Batch, Checkpoint } from '../prepare/batch.ts';
import { writeCheckpoint } from './checkpoint.ts';
import { resolveLateInputs } from './late-inputs.ts';
import { revertChainBlocks } from './reorg.ts';

/**
 * The following statements find rows by the keys in their parameters, so one plan suits any number
 * of keys. By default Postgres would plan them again for short arrays, which takes a millisecond.
 */
const PLAN_ONCE = 'set local plan_cache_mode = force_generic_plan';

/**
 * Bounds `unmerged_touches`, since each request for an address reads all of it. Mainnet adds as
 * many blocks in half a minute. Far less than any pruning depth, so that retention never removes a
 * block with a row.
 */
const MAX_UNMERGED_BLOCKS = 300;

interface WriteOptions {
  /** Whether the rest of the transaction uses generic plans. */
  plansOnce?: boolean;
  /** Whether retention prepares a cut. */
  isCutting?: (() => boolean) | undefined;
}

export function apply(client: ClientBase, batch: Batch, isCutting?: () => boolean): Promise<void> {
  return inTransaction(client, async () => {
    // After a reorg, activity of scripts may be computed from ranges of the chain, whose plans
    // depend on the parameters.
    const plansOnce = batch.removed.length === 0;
    await inPipeline(client, [
      () => lockCheckpoint(client, batch.from),
      () => writeBatch(client, batch, { plansOnce, isCutting }),
    ]);
  });
}

/**
 * Must run inside a transaction that has locked the checkpoint. Sends most statements together,
 * since round trips delay the tip.
 */
export async function writeBatch(
  client: ClientBase,
  batch: Batch,
  { plansOnce = false, isCutting }: WriteOptions = {},
): Promise<void> {
  const { removed, rows, state } = batch;
  if (removed.length > 0) await revertChainBlocks(client, batch);
  await inPipeline(client, [
    ...Object.values(rows).map((table) => () => copyRows(client, table)),
    async () => state && (await completeInputs(client, batch, state, isCutting)),
    async () => state && (await countMerged(client, batch, state)),
  ]);
  // Network intervals read the supply at the previous checkpoint, so they are sent before it moves.
  const afterReads = [
    () => acceptTransactions(client, batch),
    () => writeCheckpoint(client, batch, state?.of(BalanceDeltas).supply ?? 0n),
  ];
  await inPipeline(client, [
    ...(plansOnce ? [() => client.query(PLAN_ONCE)] : []),
    () => completeBlocks(client, batch),
    () => (state === undefined ? inPipeline(client, afterReads) : applyState(client, state, afterReads)),
  ]);
}

export async function lockCheckpoint(client: ClientBase, from: Checkpoint): Promise<void> {
  const { rows } = await client.query<{ block_id: bigint; chain_index: bigint }>({
    name: 'lock-checkpoint',
    text: 'select block_id, chain_index from checkpoint for update',
  });
  const found = { blockId: Number(rows[0]?.block_id ?? 0), chainIndex: Number(rows[0]?.chain_index ?? -1) };
  if (found.blockId !== from.blockId || found.chainIndex !== from.chainIndex) {
    throw new CheckpointMovedError('The checkpoint was moved by another indexer on this database.');
  }
}

async function completeBlocks(
  client: ClientBase,
  { removed, mergedBefore, chainBefore, preBootstrapBlocks }: Batch,
): Promise<void> {
  const forget = () =>
    client.query('delete from pre_bootstrap_blocks where id = any($1::bigint[])', [preBootstrapBlocks]);
  const [blocks, mergingBlocks, areBlue] = columnsOf(mergedBefore, 'block', 'mergingBlock', 'isBlue');
  const merge = async (): Promise<void> => {
    const { rowCount } = await client.query({
      name: 'merge-blocks',
      text: `update blocks b set merging_block_id = merged.merging_block_id, is_blue = merged.is_blue
               from unnest($1::bigint[], $2::bigint[], $3::boolean[]) merged (id,
                 merging_block_id, is_blue)
              where b.id = merged.id
                and (b.merging_block_id, b.is_blue)
                  is distinct from (merged.merging_block_id, merged.is_blue)
                and (b.merging_block_id is null or $4 or exists (select from gaps))`,
      // Blocks of removed chain blocks still have their old values.
      values: [blocks, mergingBlocks, areBlue, removed.length > 0],
    });
    if (removed.length === 0 && rowCount !== mergedBefore.length) {
      throw new IncompleteUpdateError('the node merges a block that an earlier chain block merges');
    }
  };
  const addToChain = () =>
    client.query({
      name: 'chain-blocks',
      text: 'update blocks set is_chain_block = true where id = any($1::bigint[]) and not is_chain_block',
      values: [chainBefore],
    });
  await inPipeline(client, [
    ...(preBootstrapBlocks.length > 0 ? [forget] : []),
    ...(mergedBefore.length > 0 ? [merge] : []),
    ...(chainBefore.length > 0 ? [addToChain] : []),
  ]);
}

async function completeInputs(
  client: ClientBase,
  batch: Batch,
  state: StateChanges,
  isCutting: (() => boolean) | undefined,
): Promise<void> {
  const { scripts, outputs } = await resolveLateInputs(
    client,
    {
      from: batch.from.nextTransactionId,
      preBootstrap: batch.preBootstrapTransactions,
      accepted: batch.acceptedBefore.map(({ transaction }) => transaction),
      written: batch.rows.transaction_inputs.rows,
    },
    isCutting,
  );
  collectState({ kind: 'touched', scripts }, state);
  collectState({ kind: 'spent', outputs }, state);
}

/**
 * Counts the transactions of blocks that this batch merges, and of blocks that stayed unmerged for
 * long.
 */
async function countMerged(client: ClientBase, { to, mergedBefore }: Batch, state: StateChanges): Promise<void> {
  const { rows } = await client.query<{ script_ids: bigint[] }>({
    name: 'count-merged',
    text: 'delete from unmerged_touches where block_id = any($1::bigint[]) or block_id < $2 returning script_ids',
    values: [mergedBefore.map(({ block }) => block), to.nextBlockId - MAX_UNMERGED_BLOCKS],
  });
  for (const { script_ids } of rows) collectState({ kind: 'touched', scripts: script_ids.map(Number) }, state);
}

async function acceptTransactions(
  client: ClientBase,
  { from, removed, acceptedBefore, settledVariants }: Batch,
): Promise<void> {
  if (settledVariants.length > 0) {
    await client.query(
      `update transactions t set accepted_variant = settled.variant
         from unnest($1::bigint[], $2::integer[]) settled (id, variant)
        where t.id = settled.id`,
      columnsOf(settledVariants, 'transaction', 'variant'),
    );
  }
  if (acceptedBefore.length === 0) return;
  const fork = from.chainIndex - removed.length;
  // Rows of removed chain blocks may keep their values, so that after a reorg the number of changed
  // rows tells nothing.
  if (removed.length > 0) await checkNotAccepted(client, acceptedBefore, fork);
  const [transactions, indexes, variants] = columnsOf(acceptedBefore, 'transaction', 'chainIndex', 'variant');
  const { rowCount } = await client.query({
    name: 'accept-transactions',
    // The inputs may have been resolved after the transaction was written.
    text: `update transactions t set accepting_index = accepted.chain_index, accepted_variant = accepted.variant,
                  fee = coalesce(t.fee, inputs_minus_outputs(t.id))
             from unnest($1::bigint[], $2::bigint[], $3::integer[]) accepted (id,
               chain_index, variant)
            where t.id = accepted.id
              and (t.accepting_index, t.accepted_variant)
                is distinct from (accepted.chain_index, accepted.variant)
              and (t.accepting_index is null or not (${isOnChain('t', '$4')}))`,
    values: [transactions, indexes, variants, fork],
  });
  if (removed.length === 0 && rowCount !== acceptedBefore.length) await checkNotAccepted(client, acceptedBefore, fork);
}

/**
 * Whether a transaction is accepted by a chain block up to the fork. Those from before a gap may be
 * accepted again.
 */
const isOnChain = (transaction: string, fork: string): string =>
  `${transaction}.accepting_index <= ${fork}
    and ${transaction}.accepting_index > (select max(chain_index) from bootstrap_blocks)`;

/**
 * @throws IncompleteUpdateError if the chain accepts one of the transactions already, since its
 * amounts would count twice
 */
async function checkNotAccepted(client: ClientBase, accepted: Batch['acceptedBefore'], fork: number): Promise<void> {
  const { rows } = await client.query<{ id: string; index: bigint }>(
    `select encode(t.transaction_id, 'hex') as id, t.accepting_index as index
       from transactions t where t.id = any($1::bigint[]) and ${isOnChain('t', '$2')} limit 1`,
    [accepted.map(({ transaction }) => transaction), fork],
  );
  for (const { id, index } of rows) {
    throw new IncompleteUpdateError(`the node accepts ${id} again, which chain block ${index} accepts`);
  }
}
