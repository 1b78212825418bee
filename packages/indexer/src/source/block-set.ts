/** Blocks from several pages, which are matched with the chain by hash: a block's hash commits to its parents, and so to its mergeset. */
import { type Crescendo, type Hash, toHex } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import type { AddedChainBlock } from '../chain-update.ts';
import { IncompleteUpdateError } from '../errors.ts';
import { findFault } from './check-block.ts';

export class BlockSet {
  readonly #blocks = new Map<string, RpcBlock>();
  readonly #crescendo: Crescendo | undefined;
  /** Without a fault. A chain block is taken twice: as itself, and as the selected parent of the next one. */
  readonly #checked = new WeakSet<RpcBlock>();

  constructor(crescendo: Crescendo | undefined) {
    this.#crescendo = crescendo;
  }

  add(blocks: Iterable<RpcBlock>): void {
    for (const block of blocks) {
      const name = toHex(block.hash);
      if (!this.#blocks.has(name)) this.#blocks.set(name, block);
    }
  }

  has(hash: Hash): boolean {
    return this.#blocks.has(toHex(hash));
  }

  /** Returns whether it has a chain block with its mergeset. */
  canTake(hash: Hash): boolean {
    const block = this.#blocks.get(toHex(hash));
    return block !== undefined && mergeSetOf(block).every((merged) => this.has(merged));
  }

  /** Removes the mergeset of a chain block, but not the chain block, which the next one merges. @throws IncompleteUpdateError */
  take(hash: Hash, acceptedTransactionIds: Hash[]): AddedChainBlock {
    const block = this.#get(hash);
    const [selectedParent, ...others] = mergeSetOf(block);
    if (selectedParent === undefined) throw new IncompleteUpdateError(`chain block ${toHex(hash)} has no mergeset`);
    const mergeSet = [this.#get(selectedParent), ...others.map((merged) => this.#get(merged)).sort(byBlueWork)];
    for (const merged of mergeSet) this.#blocks.delete(toHex(merged.hash));
    return { block, mergeSet, acceptedTransactionIds };
  }

  /** Removes all blocks. Returns those that are complete and have less blue work than the sink, which a next block may merge. */
  takeTail(sink: RpcBlock): RpcBlock[] {
    const tail = [...this.#blocks.values()].filter(
      (block) => byBlueWork(block, sink) < 0 && findFault(block, this.#crescendo) === undefined,
    );
    this.#blocks.clear();
    return tail.sort(byBlueWork);
  }

  #get(hash: Hash): RpcBlock {
    const block = this.#blocks.get(toHex(hash));
    if (block === undefined) {
      throw new IncompleteUpdateError(`block ${toHex(hash)} is missing from the node's response`);
    }
    if (this.#checked.has(block)) return block;
    const fault = findFault(block, this.#crescendo);
    if (fault !== undefined) throw new IncompleteUpdateError(`block ${toHex(hash)} ${fault}`);
    this.#checked.add(block);
    return block;
  }
}

/** Returns the hashes of the blocks that a block merges, its selected parent first. */
export function mergeSetOf({ mergeSetBluesHashes, mergeSetRedsHashes }: RpcBlock): Hash[] {
  return [...mergeSetBluesHashes, ...mergeSetRedsHashes];
}

/** Sorts by (blue work, hash): parents before children, and a mergeset in the order of acceptance. */
function byBlueWork(a: RpcBlock, b: RpcBlock): number {
  if (a.header.blueWork !== b.header.blueWork) return a.header.blueWork < b.header.blueWork ? -1 : 1;
  return Buffer.compare(a.hash, b.hash);
}
