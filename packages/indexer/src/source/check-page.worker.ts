/**
 * Checks the blocks of pages on a second thread, since this takes as long as decoding them, and the
 * main thread limits a catch-up.
 */
import type { Crescendo } from '@kasgres/kaspa';
import { decodeBlocks } from '@kasgres/node/decode-responses';
import { serveJobs } from '@kasgres/runtime/worker-pool';
import { findFault } from './check-block.ts';

export interface CheckJob {
  /** A getBlocksResponse message, in memory that the threads share. */
  page: Uint8Array;
  crescendo: Crescendo | undefined;
}

/** The result of `findFault` for each block of a page, in order. */
export type Faults = readonly (string | undefined)[];

serveJobs(
  ({ page, crescendo }: CheckJob): Faults => Array.from(decodeBlocks(page), (block) => findFault(block, crescendo)),
);
