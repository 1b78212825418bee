/**
 * The colour and reward of a block: getCurrentBlockColor and getBlockRewardInfo. Source:
 * rusty-kaspa, `service.rs`.
 */
import type { Dag, DagBlock } from '../dag.ts';
import { NodeResponseError } from '../node-state.ts';

/** Throws the node's error for a block that is unknown or not merged. */
export function isBlue(dag: Dag, hash: string): boolean {
  const block = dag.find(hash);
  if (block?.mergingBlock === undefined || !isAboveRoot(dag, block))
    throw new NodeResponseError(`Block ${hash} doesn't have any merger block.`);
  return block.mergingBlock.mergeSetBlues.includes(block);
}

export interface RewardInfo {
  color: 'unknown' | 'blue' | 'red';
  /** Unset for a block not merged yet. */
  merged?: { mergingBlock: DagBlock; confirmationCount: bigint };
  /** Sompi, for a blue block. */
  rewardAmount?: bigint;
}

/** Throws the node's error for a block that is not in the pruning point's future. */
export function rewardInfo(dag: Dag, block: DagBlock): RewardInfo {
  if (!isAboveRoot(dag, block)) {
    throw new NodeResponseError('the queried hash does not have retention root in its past');
  }
  const { mergingBlock } = block;
  if (mergingBlock === undefined) return { color: 'unknown' };
  const merged = { mergingBlock, confirmationCount: dag.sink.header.blueScore - mergingBlock.header.blueScore };
  const index = mergingBlock.mergeSetBlues.indexOf(block);
  if (index === -1) return { color: 'red', merged };
  const output = mergingBlock.transactions[0]?.outputs[index];
  if (output === undefined) {
    throw new NodeResponseError(`missing reward output ${index} in merging chain block ${mergingBlock.hash}`);
  }
  return { color: 'blue', merged, rewardAmount: output.amount + rewardForReds(block) };
}

/** Whether the root is the block itself or in its past. */
function isAboveRoot({ root, genesis }: Dag, block: DagBlock): boolean {
  if (root === genesis) return true;
  const past = new Set([block]);
  for (const { parents, header } of past) {
    if (header.blueWork <= root.header.blueWork) continue;
    for (const parent of parents) past.add(parent);
  }
  return past.has(root);
}

/** A chain block also pays itself for the reds it merges, by one output more than it has blues. */
function rewardForReds(block: DagBlock): bigint {
  const outputs = block.transactions[0]?.outputs ?? [];
  const isPaid = block.chainIndex !== undefined && outputs.length === block.mergeSetBlues.length + 1;
  return isPaid ? (outputs.at(-1)?.amount ?? 0n) : 0n;
}
