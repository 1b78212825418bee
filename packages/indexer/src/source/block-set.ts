/**
 * Blocks from several pages, which are matched with the chain by hash: a block's hash commits to
 * its parents, and so to its mergeset.
 */
import { type Crescendo, type Hash, toHex, workFromBits } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import type { AddedChainBlock } from '../chain-update.ts';
import { IncompleteUpdateError } from '../errors.ts';
import { findFault } from './check-block.ts';
import type { Faults } from './check-page.worker.ts';

export class BlockSet {
  readonly #blocks = new Map<string, RpcBlock>();
  readonly #crescendo: Crescendo | undefined;
  /**
   * The faults of checked blocks. A chain block is looked up twice: as a chain block, and as the
   * selected parent of the next one.
   */
  readonly #faults = new WeakMap<RpcBlock, string | undefined>();

  constructor(crescendo: Crescendo | undefined) {
    this.#crescendo = crescendo;
  }

  /**
   * @param blocks may be here already: pages overlap, and kaspad's getBlocks repeats some blocks of
   * the sink's anticone
   * @param faults of the blocks in order, if they have been checked
   */
  add(blocks: readonly RpcBlock[], faults?: Faults): void {
    const areChecked = faults?.length === blocks.length;
    for (const [index, block] of blocks.entries()) {
      const name = toHex(block.hash);
      if (!this.#blocks.has(name)) this.#blocks.set(name, block);
      if (areChecked) this.#faults.set(block, faults[index]);
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

  /**
   * Removes the mergeset of a chain block, but not the chain block, which the next one merges.
   * @throws IncompleteUpdateError
   */
  take(hash: Hash, acceptedTransactionIds: Hash[]): AddedChainBlock {
    const block = this.#get(hash);
    const [selectedParent, ...others] = mergeSetOf(block);
    if (selectedParent === undefined) throw new IncompleteUpdateError(`chain block ${toHex(hash)} has no mergeset`);
    const mergeSet = [this.#get(selectedParent), ...others.map((merged) => this.#get(merged)).sort(byBlueWork)];
    checkMergeSet(block, mergeSet);
    checkAcceptance(block, mergeSet, acceptedTransactionIds);
    for (const merged of mergeSet) this.#blocks.delete(toHex(merged.hash));
    return { block, mergeSet, acceptedTransactionIds };
  }

  /**
   * Removes all blocks. Returns those that are complete and have less blue work than the sink,
   * which a next block may merge.
   */
  takeTail(sink: RpcBlock): RpcBlock[] {
    const tail = [...this.#blocks.values()].filter(
      (block) => byBlueWork(block, sink) < 0 && this.#findFault(block) === undefined,
    );
    this.#blocks.clear();
    return tail.sort(byBlueWork);
  }

  #get(hash: Hash): RpcBlock {
    const block = this.#blocks.get(toHex(hash));
    if (block === undefined) {
      throw new IncompleteUpdateError(`block ${toHex(hash)} is missing from the node's response`);
    }
    const fault = this.#findFault(block);
    if (fault !== undefined) throw new IncompleteUpdateError(`block ${toHex(hash)} ${fault}`);
    return block;
  }

  #findFault(block: RpcBlock): string | undefined {
    if (!this.#faults.has(block)) this.#faults.set(block, findFault(block, this.#crescendo));
    return this.#faults.get(block);
  }
}

/**
 * The hash of a header covers its blue score and blue work, but not what it merges.
 * @throws IncompleteUpdateError
 */
function checkMergeSet(block: RpcBlock, mergeSet: readonly RpcBlock[]): void {
  const { hash, header, mergeSetBluesHashes: blues, mergeSetRedsHashes } = block;
  const { header: selected } = mergeSet[0] as RpcBlock;
  if (header.blueScore !== selected.blueScore + BigInt(blues.length)) {
    throw new IncompleteUpdateError(
      `chain block ${toHex(hash)} merges another number of blue blocks than its blue score tells`,
    );
  }
  const reds = new Set(mergeSetRedsHashes.map(toHex));
  const work = mergeSet
    .filter((merged) => reds.size === 0 || !reds.has(toHex(merged.hash)))
    .reduce((sum, merged) => sum + workFromBits(merged.header.bits), 0n);
  if (header.blueWork !== selected.blueWork + work) {
    throw new IncompleteUpdateError(`chain block ${toHex(hash)} merges other blue blocks than its blue work tells`);
  }
}

/**
 * A block is only on the chain if all of its transactions are valid there, and the next chain block
 * accepts them first.
 * @throws IncompleteUpdateError
 */
function checkAcceptance({ hash }: RpcBlock, [selectedParent]: readonly RpcBlock[], accepted: readonly Hash[]): void {
  for (const [index, { transactionId }] of (selectedParent as RpcBlock).transactions.entries()) {
    const id = accepted[index];
    if (id === undefined || Buffer.compare(id, transactionId) !== 0) {
      throw new IncompleteUpdateError(
        `chain block ${toHex(hash)} does not accept transaction ${toHex(transactionId)} of its selected parent in order`,
      );
    }
  }
}

/** Returns the hashes of the blocks that a block merges, its selected parent first. */
export function mergeSetOf({ mergeSetBluesHashes, mergeSetRedsHashes }: RpcBlock): Hash[] {
  return [...mergeSetBluesHashes, ...mergeSetRedsHashes];
}

/**
 * Sorts by (blue work, hash): parents before children, and a mergeset in the order of acceptance.
 */
function byBlueWork(a: RpcBlock, b: RpcBlock): number {
  if (a.header.blueWork !== b.header.blueWork) return a.header.blueWork < b.header.blueWork ? -1 : 1;
  return Buffer.compare(a.hash, b.hash);
}
