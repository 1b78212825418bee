/**
 * A step writes in one transaction under the lock on the checkpoint. All state between steps is in
 * the database.
 */
import { inTransaction } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { workOffTagFlags } from '../balances/tag-flags/walk.ts';
import { writeChangeLinks } from './change-links.ts';
import { Forest, type Tie } from './forest.ts';
import {
  type ClusteringRange,
  findForkOf,
  findNextRange,
  findSink,
  isChainBlock,
  type Position,
  readApproved,
  readNeighbourhood,
  readPosition,
  readTies,
} from './read.ts';
import { undoTowards } from './undo.ts';
import { writeHeld } from './held-merges.ts';
import { writeForest, writePosition } from './write.ts';

export interface ClusteringOptions {
  /** In blue score below the sink. */
  depth: bigint;
  sizeLimit: bigint;
  change: boolean;
}

const APPROVED_AT_ONCE = 500;
/** Members whose flags a step sets: about 100 ms. */
const FLAGS_AT_ONCE = 5_000;

const NOTHING = {
  transactions: 0,
  merges: 0,
  undoneMerges: 0,
  /** Merges that wait for an operator. */
  held: 0,
  /** The position of clustering and its target; undefined if the position did not change. */
  blueScore: undefined as bigint | undefined,
  targetBlueScore: 0n,
  /** Whether the next step may have work immediately. */
  isBusy: false,
};

export type Step = Readonly<typeof NOTHING>;

export async function clusterStep(client: ClientBase, options: ClusteringOptions, transactions: number): Promise<Step> {
  const plan = await inTransaction(client, () => prepareNext(client, options, transactions), { readsSnapshot: true });
  return await inTransaction(client, async () => {
    const sink = await findSink(client, 'for update');
    if (sink === undefined) return NOTHING;
    const position = await readPosition(client);
    return await advance(client, position, { ...options, plan, targetBlueScore: sink.blueScore - options.depth });
  });
}

interface Plan {
  /** chain_blocks.index of the last clustered chain block. */
  after: bigint;
  range: ClusteringRange;
  ties: Tie[];
}

/** Reads the next chain blocks before the lock, for which batches would have to wait. */
async function prepareNext(
  client: ClientBase,
  { depth }: ClusteringOptions,
  transactions: number,
): Promise<Plan | undefined> {
  const sink = await findSink(client);
  if (sink === undefined) return undefined;
  const { chainIndex: after } = await readPosition(client);
  const range = await findNextRange(client, after, sink.blueScore - depth, transactions);
  return range && { after, range, ties: await readTies(client, after + 1n, range.to.chainIndex) };
}

/** Sets queued tag flags in a separate transaction. @returns whether there may be more */
export async function flagStep(client: ClientBase): Promise<boolean> {
  // Checks without a lock first: the queue is usually empty.
  const { rows } = await client.query<{ any: boolean }>('select exists (select from pending_tag_flags) as any');
  if (rows[0]?.any !== true) return false;
  return await inTransaction(client, async () => {
    if ((await findSink(client, 'for update')) === undefined) return false;
    await workOffTagFlags(client, FLAGS_AT_ONCE);
    return true;
  });
}

interface StepOptions extends ClusteringOptions {
  plan: Plan | undefined;
  targetBlueScore: bigint;
}

async function advance(client: ClientBase, position: Position, options: StepOptions): Promise<Step> {
  const { plan, targetBlueScore } = options;
  if (position.blockId !== undefined) {
    const fork = await findForkOf(client, position.blockId);
    if (fork === undefined) {
      throw new Error(`no chain block is below block ${position.blockId}, the position of clustering`);
    }
    if (fork.blockId !== position.blockId) {
      const undoneMerges = await undoTowards(client, position, fork);
      return { ...NOTHING, undoneMerges, targetBlueScore, isBusy: true };
    }
    const approved = await readApproved(client, position.chainIndex, APPROVED_AT_ONCE);
    if (approved.length > 0) {
      const done = await unite(client, approved, position, options, position);
      return { ...NOTHING, ...done, targetBlueScore, isBusy: true };
    }
  }
  if (plan === undefined) return { ...NOTHING, targetBlueScore };
  const { to, transactions, blueScore, hasNext } = plan.range;
  // A chain block determines all below it. After a reorg, or an undone step, the next step reads
  // again.
  const isDeep = blueScore <= targetBlueScore && (await isChainBlock(client, to));
  if (plan.after !== position.chainIndex || !isDeep) {
    return { ...NOTHING, targetBlueScore, isBusy: true };
  }
  const done = await unite(client, plan.ties, position, options, to);
  if (options.change) await writeChangeLinks(client, plan.after + 1n, to.chainIndex);
  return { ...NOTHING, ...done, transactions, blueScore, targetBlueScore, isBusy: hasNext };
}

async function unite(
  client: ClientBase,
  ties: readonly Tie[],
  position: Position,
  { sizeLimit }: ClusteringOptions,
  to: Pick<Position, 'chainIndex' | 'blockId'>,
): Promise<Pick<Step, 'merges' | 'held'>> {
  const near = await readNeighbourhood(client, [...new Set(ties.flatMap(({ scripts }) => scripts))]);
  const forest = new Forest({ ...near, sizeLimit, nextMergeId: position.nextMergeId });
  for (const tie of ties) forest.tie(tie);
  await writeForest(client, forest, near.clusters, to.chainIndex);
  const nextHeldMergeId = await writeHeld(client, forest.held, position.nextHeldMergeId);
  await writePosition(client, { ...to, nextMergeId: forest.nextMergeId, nextHeldMergeId });
  return { merges: forest.merges.length, held: forest.held.length };
}
