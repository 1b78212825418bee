/**
 * Clusters the chain at a depth below the sink, on a separate connection: step after step, then polling every second. A failed step is retried
 * here and does not affect the indexing of the chain.
 */
import { type Connection, checkSchema, isQueryCanceled, isRetryableDatabaseError } from '@kasgres/database';
import { getNetwork } from '@kasgres/kaspa';
import { backoff, type Logger, sleep } from '@kasgres/runtime';
import { type ClusteringOptions, clusterStep, flagStep, type Step } from '@kasgres/state';
import type { ClientBase } from 'pg';
import { findNetworkOfDatabase } from '../apply/checkpoint.ts';
import { Sessions } from '../apply/sessions.ts';
import type { Metrics } from '../metrics.ts';
import { ClusteringProgress } from './clustering-progress.ts';

/** The target for how long a step holds the lock on the checkpoint. */
const STEP_MS = 100;
const FIRST_TRANSACTIONS = 500;
const LEAST_TRANSACTIONS = 50;
const MOST_TRANSACTIONS = 20_000;
const IDLE_MS = 1_000;
const COUNT_HELD_EVERY_MS = 60_000;
const MAX_DELAY_MS = 60_000;

export interface KeepClusteringParts {
  database: Connection;
  /** The depth defaults to that of the network. */
  options: Omit<ClusteringOptions, 'depth'> & { depth: bigint | undefined };
  log: Logger;
  metrics: Metrics['clustering'];
}

/** Returns when the signal is aborted, and never throws. */
export async function keepClustering(parts: KeepClusteringParts, signal: AbortSignal): Promise<void> {
  const { database, log, metrics } = parts;
  const sessions = new Sessions();
  let delays = backoff({ maxMs: MAX_DELAY_MS });
  while (!signal.aborted) {
    try {
      await checkSchema(database.pool);
      const client = await database.pool.connect();
      try {
        await sessions.succeed([client]);
        await follow(client, parts, signal, () => {
          delays = backoff({ maxMs: MAX_DELAY_MS });
        });
      } finally {
        // Closed, not reused: a transaction may be open.
        client.release(true);
      }
    } catch (error) {
      if (signal.aborted) return;
      metrics.failures.inc();
      const delayMs = delays.next().value;
      const passes = isRetryableDatabaseError(error) || isQueryCanceled(error);
      log[passes ? 'warn' : 'error']({ err: error, delayMs }, 'retrying clustering');
      await sleep(delayMs, signal).catch(() => undefined);
    }
  }
}

async function follow(
  client: ClientBase,
  { options, log, metrics }: KeepClusteringParts,
  signal: AbortSignal,
  succeeded: () => void,
): Promise<void> {
  const progress = new ClusteringProgress(log);
  let transactions = FIRST_TRANSACTIONS;
  let depth = options.depth;
  let countHeldAt = 0;
  while (!signal.aborted) {
    depth ??= await findSettledDepth(client);
    if (depth === undefined) {
      await sleep(IDLE_MS, signal).catch(() => undefined);
      continue;
    }
    const begun = performance.now();
    const step = await clusterStep(client, { ...options, depth }, transactions);
    const tookMs = performance.now() - begun;
    const isFlagging = await flagStep(client);
    succeeded();
    note(step, tookMs, metrics);
    progress.took(step);
    if (step.transactions > 0) transactions = adapt(transactions, step.transactions, tookMs);
    if (begun >= countHeldAt) {
      countHeldAt = begun + COUNT_HELD_EVERY_MS;
      metrics.held.set(await countHeld(client));
    }
    if (!step.isBusy && !isFlagging) await sleep(IDLE_MS, signal).catch(() => undefined);
  }
}

/** Returns how many transactions fit into the time of a step, from the last step; a small one at the tip is no measure. */
function adapt(planned: number, done: number, tookMs: number): number {
  if (done < planned / 2 && tookMs < STEP_MS) return planned;
  const fitting = Math.round((done * STEP_MS) / Math.max(tookMs, 1));
  return Math.min(MOST_TRANSACTIONS, Math.max(LEAST_TRANSACTIONS, Math.min(fitting, planned * 2)));
}

function note(step: Step, tookMs: number, metrics: Metrics['clustering']): void {
  if (step.blueScore !== undefined) metrics.blueScore.set(Number(step.blueScore));
  metrics.transactions.inc(step.transactions);
  metrics.merges.inc(step.merges);
  metrics.undoneMerges.inc(step.undoneMerges);
  metrics.heldMerges.inc(step.held);
  metrics.stepSeconds.observe(tookMs / 1_000);
}

/** Returns undefined before the first bootstrap. */
async function findSettledDepth(client: ClientBase): Promise<bigint | undefined> {
  const network = await findNetworkOfDatabase(client);
  return network === undefined ? undefined : getNetwork(network).settledDepth;
}

async function countHeld(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::integer as count from held_merges where state = 'held'`,
  );
  return rows[0]?.count ?? 0;
}
