/**
 * The latest blocks that the source passed on at the tip, so that a shallow reorg needs none of
 * them from the node again.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import type { AddedChainBlock } from '../chain-update.ts';
import { mergeSetOf } from './block-set.ts';

/** On mainnet, these are the blocks of three seconds. */
const MAX_BLOCKS = 32;
/**
 * Bounds the memory behind hashes, scripts and payloads. All blocks of a response share it, and it
 * is freed with the last of them.
 */
export const MAX_BYTES = 64 * 1024 * 1024;

export class RecentBlocks {
  readonly #blocks = new Map<string, RpcBlock>();

  /**
   * Adds blocks, and drops the oldest ones beyond the bounds.
   * @param added in the order of the chain
   */
  add(added: readonly AddedChainBlock[]): void {
    const blocks = added.slice(-MAX_BLOCKS).flatMap(({ block, mergeSet }) => [...mergeSet, block]);
    for (const block of blocks.slice(-MAX_BLOCKS)) {
      const name = toHex(block.hash);
      this.#blocks.delete(name);
      this.#blocks.set(name, block);
    }
    for (const name of this.#blocks.keys()) {
      if (this.#blocks.size <= MAX_BLOCKS && this.#bytes <= MAX_BYTES) return;
      this.#blocks.delete(name);
    }
  }

  clear(): void {
    this.#blocks.clear();
  }

  find(hash: Hash): RpcBlock | undefined {
    return this.#blocks.get(toHex(hash));
  }

  /**
   * Returns chain blocks with their mergesets, the selected parent of the lowest included;
   * undefined if one is missing.
   */
  findRemoved(chainBlocks: readonly Hash[]): RpcBlock[] | undefined {
    const found = chainBlocks.flatMap((hash) => {
      const block = this.find(hash);
      return block === undefined ? [undefined] : [block, ...mergeSetOf(block).map((merged) => this.find(merged))];
    });
    return found.every((block) => block !== undefined) ? found : undefined;
  }

  get #bytes(): number {
    const buffers = new Set([...this.#blocks.values()].map(({ hash }) => hash.buffer));
    return [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }
}
