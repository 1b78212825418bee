/** Clusters what is indexed, step after step, to the end: what the indexer does beside following the chain. */
import { performance } from 'node:perf_hooks';
import { getNetwork } from '@kasgres/kaspa';
import { openClusteringDatabase } from '@kasgres/indexer';
import { clusterStep, flagStep } from '@kasgres/state';

/** What a step has within its time (keep-clustering.ts), on a machine that does nothing else. */
const TRANSACTIONS_A_STEP = 2_000;
/** The indexer's by default. */
const SIZE_LIMIT = 1_000_000n;

export interface Clustered {
  transactions: number;
  merges: number;
  held: number;
  seconds: number;
}

export async function clusterChain(url: string): Promise<Clustered> {
  const database = openClusteringDatabase(url);
  const client = await database.pool.connect();
  const options = { depth: getNetwork('simnet').settledDepth, sizeLimit: SIZE_LIMIT, change: false };
  const clustered = { transactions: 0, merges: 0, held: 0, seconds: 0 };
  const startedAt = performance.now();
  try {
    for (let isBusy = true; isBusy; ) {
      const step = await clusterStep(client, options, TRANSACTIONS_A_STEP);
      const isFlagging = await flagStep(client);
      clustered.transactions += step.transactions;
      clustered.merges += step.merges;
      clustered.held += step.held;
      isBusy = step.isBusy || isFlagging;
    }
  } finally {
    client.release();
    await database.close();
  }
  return { ...clustered, seconds: (performance.now() - startedAt) / 1_000 };
}
