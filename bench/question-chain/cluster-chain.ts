/** Clusters what is indexed, step after step, to the end: what the indexer does beside following the chain. */
import { performance } from 'node:perf_hooks';
import type { Connection } from '@kasgres/database';
import { getNetwork } from '@kasgres/kaspa';
import { clusterStep } from '../../packages/indexer/src/clustering/step.ts';

/** What a step has within its time (keep-clustering.ts), on a machine that does nothing else. */
const TRANSACTIONS_A_STEP = 2_000;
/** The indexer's by default. */
const SIZE_LIMIT = 1_000_000n;

export interface Clustered {
  transactions: number;
  merges: number;
  held: number;
  seconds: number;
  /** Of the longest step, milliseconds. */
  longestMs: number;
}

export async function clusterChain({ pool }: Connection): Promise<Clustered> {
  const client = await pool.connect();
  const options = { depth: getNetwork('simnet').settledDepth, sizeLimit: SIZE_LIMIT, change: false };
  const clustered = { transactions: 0, merges: 0, held: 0, seconds: 0, longestMs: 0 };
  try {
    for (let isBusy = true; isBusy; ) {
      const startedAt = performance.now();
      const step = await clusterStep(client, options, TRANSACTIONS_A_STEP);
      const ms = performance.now() - startedAt;
      clustered.transactions += step.transactions;
      clustered.merges += step.merges;
      clustered.held += step.held;
      clustered.seconds += ms / 1_000;
      clustered.longestMs = Math.max(clustered.longestMs, ms);
      ({ isBusy } = step);
    }
  } finally {
    client.release();
  }
  return clustered;
}
