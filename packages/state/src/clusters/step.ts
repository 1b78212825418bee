/** A step is one transaction under the lock on the checkpoint. All state between steps is in the database. */
import { inTransaction } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { workOffTagFlags } from '../tag-flags/walk.ts';
import { writeChangeLinks } from './change-links.ts';
import { Forest, type Tie } from './forest.ts';
import {
  findForkOf,
  findNextRange,
  lockSink,
  type Position,
  readApproved,
  readNeighbourhood,
  readPosition,
  readTies,
} from './read.ts';
import { undoTowards } from './undo.ts';
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

export function clusterStep(client: ClientBase, options: ClusteringOptions, transactions: number): Promise<Step> {
  return inTransaction(client, async () => {
    const sink = await lockSink(client);
    if (sink === undefined) return NOTHING;
    const position = await readPosition(client);
    return await advance(client, position, options, sink.blueScore - options.depth, transactions);
  });
}

/** Sets queued tag flags in a separate transaction. @returns whether there may be more */
export async function flagStep(client: ClientBase): Promise<boolean> {
  // Checks without a lock first: the queue is usually empty.
  const { rows } = await client.query<{ any: boolean }>('select exists (select from tag_marks) as any');
  if (rows[0]?.any !== true) return false;
  return await inTransaction(client, async () => {
    if ((await lockSink(client)) === undefined) return false;
    await workOffTagFlags(client, FLAGS_AT_ONCE);
    return true;
  });
}

async function advance(
  client: ClientBase,
  position: Position,
  options: ClusteringOptions,
  targetBlueScore: bigint,
  transactions: number,
): Promise<Step> {
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
  const range = await findNextRange(client, position.chainIndex, targetBlueScore, transactions);
  if (range === undefined) return { ...NOTHING, targetBlueScore };
  const from = position.chainIndex + 1n;
  const { to, transactions: count, blueScore } = range;
  const ties = await readTies(client, from, to.chainIndex);
  const done = await unite(client, ties, position, options, to);
  if (options.change) await writeChangeLinks(client, from, to.chainIndex);
  return { ...NOTHING, ...done, transactions: count, blueScore, targetBlueScore, isBusy: true };
}

async function unite(
  client: ClientBase,
  ties: readonly Tie[],
  position: Position,
  { sizeLimit }: ClusteringOptions,
  to: Pick<Position, 'chainIndex' | 'blockId'>,
): Promise<Pick<Step, 'merges' | 'held'>> {
  const near = await readNeighbourhood(client, [...new Set(ties.flatMap(({ scripts }) => scripts))]);
  const { nextMergeId, nextHeldMergeId } = position;
  const forest = new Forest({ ...near, sizeLimit, nextMergeId, nextHeldMergeId });
  for (const tie of ties) forest.tie(tie);
  await writeForest(client, forest, near.clusters, to.chainIndex);
  await writePosition(client, {
    ...to,
    nextMergeId: forest.nextMergeId,
    nextHeldMergeId: forest.nextHeldMergeId,
  });
  return { merges: forest.merges.length, held: forest.held.length };
}
