/** What is checked of the header of a block from outside, beyond what follows from the DAG for any block. */
import type { Header } from '@kasgres/kaspa';
import { BlockRuleError } from '../consensus/block-rules.ts';
import type { Consensus } from '../consensus/consensus.ts';
import { parentsByLevel } from '../consensus/parent-levels.ts';

/**
 * Throws `BlockRuleError` when the header is from the future or names the wrong blocks on the higher levels or as pruning point.
 * @param now Unix milliseconds
 */
export function checkSubmittedHeader(header: Header, consensus: Consensus, now: number): void {
  const latest = now + consensus.params.timestampToleranceMs;
  if (header.timestamp > latest) {
    throw new BlockRuleError(
      `the block timestamp is too far into the future: block timestamp is ${header.timestamp} but maximum timestamp allowed is ${latest}`,
    );
  }
  const parents = (header.parentsByLevel[0] ?? []).map((hash) => consensus.get(hash));
  const expected = parentsByLevel(parents, consensus.params, (hash) => consensus.get(hash));
  if (flatten(expected) !== flatten(header.parentsByLevel)) throw new BlockRuleError('unexpected indirect parents');
  if (Buffer.compare(header.pruningPoint, consensus.pruningPoint.hash) !== 0) {
    throw new BlockRuleError('unexpected pruning point');
  }
}

function flatten(levels: readonly (readonly Uint8Array[])[]): string {
  return levels.map((hashes) => Buffer.concat(hashes).toString('hex')).join();
}
