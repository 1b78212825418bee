/**
 * RETENTION rests on FINALITY_DEPTH: a later block merges nothing that is deeper. Nodes with
 * overridden parameters may have another depth.
 */
import { toHex } from '@kasgres/kaspa';
import { FatalError } from '@kasgres/runtime';
import type { AddedChainBlock } from '../chain-update.ts';

/**
 * @throws FatalError if one of the chain blocks merges a block deeper than `finalityDepth`, before
 * anything that it needs is removed
 */
export function checkMergeDepth(added: readonly AddedChainBlock[], finalityDepth: bigint): void {
  for (const { block, mergeSet } of added) {
    for (const merged of mergeSet) {
      const depth = block.header.blueScore - merged.header.blueScore;
      if (depth <= finalityDepth) continue;
      throw new FatalError(
        `Block ${toHex(block.hash)} merges block ${toHex(merged.hash)}, which is ${depth} blue scores below it, and FINALITY_DEPTH is ${finalityDepth}. ` +
          'RETENTION would remove rows that are still needed. Set FINALITY_DEPTH to the finality depth of the nodes, or unset it; nothing is lost.',
      );
    }
  }
}
