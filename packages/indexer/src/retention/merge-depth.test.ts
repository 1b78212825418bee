import { FatalError } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import type { AddedChainBlock } from '../chain-update.ts';
import { checkMergeDepth } from './merge-depth.ts';

const blockAt = (score: bigint): unknown => ({ hash: Buffer.alloc(32, Number(score)), header: { blueScore: score } });

function chainBlock(blueScore: bigint, ...merged: readonly bigint[]): AddedChainBlock {
  return { block: blockAt(blueScore), mergeSet: merged.map(blockAt), acceptedTransactionIds: [] } as never;
}

test('it accepts merges down to the finality depth, also of red blocks above', () => {
  expect(() => checkMergeDepth([chainBlock(100n, 99n, 101n, 40n), chainBlock(101n, 100n, 41n)], 60n)).not.toThrow();
});

test('it refuses a deeper merge with an explanation', () => {
  const deep = [chainBlock(100n, 99n), chainBlock(101n, 100n, 40n)];
  expect(() => checkMergeDepth(deep, 60n)).toThrow(FatalError);
  expect(() => checkMergeDepth(deep, 60n)).toThrow(/which is 61 blue scores below it, and FINALITY_DEPTH is 60/);
});
