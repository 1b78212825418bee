/** The way along the selected chain from one sink to another. */
import type { Block } from './block.ts';
import { getGhostdag } from './ghostdag.ts';
import { isChainAncestorOf } from './reachability.ts';

export interface ChainMove {
  /** From the old sink down. */
  removed: Block[];
  /** From the lowest up to the new sink. */
  added: Block[];
}

export function chainMove(oldSink: Block, sink: Block): ChainMove {
  const removed: Block[] = [];
  let fork = oldSink;
  for (; !isChainAncestorOf(fork, sink); fork = getGhostdag(fork).selectedParent) removed.push(fork);
  const added: Block[] = [];
  for (let block = sink; block !== fork; block = getGhostdag(block).selectedParent) added.push(block);
  return { removed, added: added.reverse() };
}
