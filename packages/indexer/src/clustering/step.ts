/**
 * One step of clustering, in one transaction under the lock of the checkpoint: undoes what has left the chain, or carries out what a
 * person let through, or goes on to the next chain blocks that are deep enough. Nothing is remembered between
 * steps but what is in the database, so a step that fails is as if it never was.
 */
import { inTransaction } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { writeChangeLinks } from './change-links.ts';
import { Forest, type Tie } from './forest.ts';
import {
  findForkOf,
  findNextStretch,
  lockSink,
  type Position,
  readApproved,
  readNeighbourhood,
  readPosition,
  readTies,
} from './read.ts';
import { workOffTagMarks } from './tag-marks.ts';
import { undoTowards } from './undo.ts';
import { writeForest, writePosition } from './write.ts';

export interface ClusteringOptions {
  /** In blue score below the sink. */
  depth: bigint;
  sizeLimit: bigint;
  /** Whether change is guessed, too. */
  change: boolean;
}

export interface Step {
  /** Accepted transactions that were gone through. */
  transactions: number;
  merges: number;
  undoneMerges: number;
  /** Merges that were held. */
  held: number;
  /** Where clustering is, and how far it could go, in blue score; undefined when that did not change. */
  blueScore: bigint | undefined;
  targetBlueScore: bigint;
  /** There may be more to do at once. */
  isBusy: boolean;
}

/** Held merges carried out in a step. */
const APPROVED_AT_ONCE = 500;
/** Members marked in a step: some 100 ms. */
const MARKS_AT_ONCE = 5_000;

const NOTHING: Step = {
  transactions: 0,
  merges: 0,
  undoneMerges: 0,
  held: 0,
  blueScore: undefined,
  targetBlueScore: 0n,
  isBusy: false,
};

/** @param transactions about how many to go through */
export function clusterStep(client: ClientBase, options: ClusteringOptions, transactions: number): Promise<Step> {
  return inTransaction(client, async () => {
    const sink = await lockSink(client);
    if (sink === undefined) return NOTHING;
    const position = await readPosition(client);
    return await move(client, position, options, sink.blueScore - options.depth, transactions);
  });
}

/** Sets marks that wait, in a transaction of its own. @returns whether there may be more */
export async function markStep(client: ClientBase): Promise<boolean> {
  // Mostly there is none, and no need to keep anybody waiting.
  const { rows } = await client.query<{ any: boolean }>('select exists (select from tag_marks) as any');
  if (rows[0]?.any !== true) return false;
  return await inTransaction(client, async () => {
    if ((await lockSink(client)) === undefined) return false;
    await workOffTagMarks(client, MARKS_AT_ONCE);
    return true;
  });
}

async function move(
  client: ClientBase,
  position: Position,
  options: ClusteringOptions,
  targetBlueScore: bigint,
  transactions: number,
): Promise<Step> {
  if (position.blockId !== undefined) {
    const fork = await findForkOf(client, position.blockId);
    if (fork === undefined)
      throw new Error(`block ${position.blockId}, where clustering is, has no block below it on the chain`);
    if (fork.blockId !== position.blockId) {
      const { merges } = await undoTowards(client, position, fork);
      return { ...NOTHING, undoneMerges: merges, targetBlueScore, isBusy: true };
    }
    const approved = await readApproved(client, position.chainIndex, APPROVED_AT_ONCE);
    if (approved.length > 0) {
      const done = await unite(client, approved, position, options, position);
      return { ...NOTHING, ...done, targetBlueScore, isBusy: true };
    }
  }
  const stretch = await findNextStretch(client, position.chainIndex, targetBlueScore, transactions);
  if (stretch === undefined) return { ...NOTHING, targetBlueScore };
  const from = position.chainIndex + 1n;
  const ties = await readTies(client, from, stretch.toIndex);
  const to = { chainIndex: stretch.toIndex, blockId: stretch.blockId };
  const done = await unite(client, ties, position, options, to);
  if (options.change) await writeChangeLinks(client, from, stretch.toIndex);
  return {
    ...NOTHING,
    ...done,
    transactions: stretch.transactions,
    blueScore: stretch.blueScore,
    targetBlueScore,
    isBusy: true,
  };
}

/** Ties scripts together and moves the position. */
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
