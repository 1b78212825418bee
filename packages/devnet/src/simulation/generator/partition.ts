/**
 * A partition: miners who were disconnected from the others publish their own branch. It starts at a lower chain block, contains payments that
 * reached them too, and grows until it is the heavier one, so that the chain reorganises.
 */
import type { Block } from '../consensus/block.ts';
import { getGhostdag } from '../consensus/ghostdag.ts';
import { findChainAncestorAt } from '../consensus/reachability.ts';
import type { SimulatedNode } from '../node/simulated-node.ts';
import type { Mining } from './mining.ts';
import type { Random } from '../../economy/random.ts';

/** Per payment of the others: the partition includes it too. */
const SHARED_RATE = 0.6;

/** @param depth chain blocks to be replaced; fewer than there are, and than are final */
export function mineBranch(
  node: SimulatedNode,
  mining: Mining,
  depth: number,
  timestamp: number,
  random: Random,
): void {
  const { consensus } = node;
  const fork = findChainAncestorAt(consensus.sink, consensus.sink.height - depth);
  if (fork === undefined) throw new RangeError(`the chain has no block ${depth} below the sink`);
  const others = blocksAbove(fork, consensus.sink);
  const forkTime = Number(fork.header.timestamp);
  const miner = mining.someMiner(random);
  let tip = fork;
  // Each side weighs as many blocks as it has, but for the few that the others have merged meanwhile.
  for (let made = 0; consensus.sink !== tip && made < 2 * others.length + 2; made += 1) {
    const virtual = consensus.findVirtualOn([tip]);
    if (virtual === undefined) throw new RangeError('the branch could never be on the selected chain');
    const unseen = others.slice(made, made + 1);
    const time = forkTime + ((timestamp - forkTime) * (made + 1)) / (others.length + 2);
    const job = {
      virtual,
      miner,
      unseen,
      duplicateRate: SHARED_RATE,
      brokenRate: 0,
      timestamp: Math.min(Math.round(time), timestamp),
    };
    tip = mining.mine(job, random);
  }
}

/** Returns the blocks that the selected chain merges between two of its blocks, oldest first. */
function blocksAbove(fork: Block, sink: Block): Block[] {
  const chain: Block[] = [];
  for (let block = sink; block !== fork; block = getGhostdag(block).selectedParent) chain.push(block);
  return [...chain.reverse().flatMap((block) => getGhostdag(block).mergeSet), sink];
}
