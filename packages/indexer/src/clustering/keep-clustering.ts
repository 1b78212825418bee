/**
 * Clusters the chain at a depth below the sink, on a separate connection. Failures do not affect
 * the indexing of the chain.
 */
import { type Connection, checkSchema, isQueryCanceled, isRetryableDatabaseError } from '@kasgres/database';
import { getNetwork } from '@kasgres/kaspa';
import { type Logger, retry, sleep } from '@kasgres/runtime';
import { type ClusteringOptions, clusterStep, flagStep, type Step } from '@kasgres/state';
import type { ClientBase } from 'pg';
import { findNetworkOfDatabase } from '../apply/checkpoint.ts';
import { disconnectLater, Sessions } from '../database.ts';
import type { Metrics } from '../metrics.ts';

/** The target for how long a step holds the lock on the checkpoint. */
const STEP_MS = 100;
const FIRST_TRANSACTIONS = 500;
const LEAST_TRANSACTIONS = 50;
const MOST_TRANSACTIONS = 20_000;
/**
 * At the tip a step has the chain blocks of this time, since each one delays the indexer and writes
 * the position.
 */
const IDLE_MS = 1_000;
const COUNT_HELD_EVERY_MS = 60_000;
const MAX_DELAY_MS = 60_000;

const LINE_MS = 60_000;
/** In blue score: more than the network adds in a few minutes. */
const FAR_BEHIND = 2_000n;

export interface KeepClusteringOptions {
  database: Connection;
  /** An undefined depth is that of the network. */
  options: Omit<ClusteringOptions, 'depth'> & { depth: bigint | undefined };
  log: Logger;
  metrics: Metrics['clustering'];
}

/** Returns when the signal is aborted, and never throws. */
export async function keepClustering(dependencies: KeepClusteringOptions, signal: AbortSignal): Promise<void> {
  const { database, log, metrics } = dependencies;
  const sessions = new Sessions();
  const onFailure = (error: unknown, delayMs: number): void => {
    metrics.failures.inc();
    const isTransient = isRetryableDatabaseError(error) || isQueryCanceled(error);
    log[isTransient ? 'warn' : 'error']({ err: error, delayMs }, 'retrying clustering');
  };
  const run = async (succeeded: () => void): Promise<void> => {
    await checkSchema(database.pool);
    const client = await database.pool.connect();
    const disconnecting = disconnectLater([client], signal);
    try {
      await sessions.succeed([client]);
      await follow(client, dependencies, signal, succeeded);
    } finally {
      disconnecting.cancel();
      client.release(true);
    }
  };
  await retry(run, { maxMs: MAX_DELAY_MS, signal, onFailure });
}

async function follow(
  client: ClientBase,
  { options, log, metrics }: KeepClusteringOptions,
  signal: AbortSignal,
  succeeded: () => void,
): Promise<void> {
  const logStep = createProgress(log);
  let transactions = FIRST_TRANSACTIONS;
  let depth = options.depth;
  let countHeldAt = 0;
  while (!signal.aborted) {
    // Undefined before the first bootstrap.
    const network = depth === undefined ? await findNetworkOfDatabase(client) : undefined;
    if (network !== undefined) depth = getNetwork(network).settledDepth;
    if (depth === undefined) {
      await sleep(IDLE_MS, signal).catch(() => undefined);
      continue;
    }
    const begun = performance.now();
    const step = await clusterStep(client, { ...options, depth }, transactions);
    const tookMs = performance.now() - begun;
    const isFlagging = await flagStep(client);
    succeeded();
    if (step.blueScore !== undefined) metrics.blueScore.set(Number(step.blueScore));
    metrics.transactions.inc(step.transactions);
    metrics.merges.inc(step.merges);
    metrics.undoneMerges.inc(step.undoneMerges);
    metrics.heldMerges.inc(step.held);
    metrics.stepSeconds.observe(tookMs / 1_000);
    logStep(step);
    if (step.transactions > 0) transactions = adapt(transactions, step.transactions, tookMs);
    if (begun >= countHeldAt) {
      countHeldAt = begun + COUNT_HELD_EVERY_MS;
      const { rows } = await client.query<{ held: number }>(
        `select count(*)::integer as held from held_merges where state = 'held'`,
      );
      metrics.held.set(rows[0]?.held ?? 0);
    }
    if (!step.isBusy && !isFlagging) await sleep(IDLE_MS, signal).catch(() => undefined);
  }
}

/**
 * Returns the number of transactions that fit into the time of a step, unless the last step was a
 * small one at the tip.
 */
function adapt(planned: number, done: number, tookMs: number): number {
  if (done < planned / 2 && tookMs < STEP_MS) return planned;
  const fitting = Math.round((done * STEP_MS) / Math.max(tookMs, 1));
  return Math.min(MOST_TRANSACTIONS, Math.max(LEAST_TRANSACTIONS, Math.min(fitting, planned * 2)));
}

/** Logs the steps of about a minute in one line. */
function createProgress(log: Logger): (step: Step) => void {
  let since = performance.now();
  let sum = { transactions: 0, merges: 0, undoneMerges: 0, held: 0 };
  let from: bigint | undefined;
  return ({ blueScore, targetBlueScore, ...step }) => {
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += step[name];
    from ??= blueScore;
    const elapsed = performance.now() - since;
    if (elapsed < LINE_MS || blueScore === undefined) return;
    const seconds = elapsed / 1_000;
    const left = targetBlueScore - blueScore;
    const done = Number(blueScore - (from ?? blueScore));
    const secondsLeft = done > 0 ? Math.ceil(Number(left) / (done / seconds)) : null;
    const transactionsPerSecond = Math.round(sum.transactions / seconds);
    log.info(
      { blueScore, ...sum, transactionsPerSecond, ...(left > FAR_BEHIND && { blueScoresLeft: left, secondsLeft }) },
      left > FAR_BEHIND ? 'clustering, far behind the chain' : 'clustered the chain',
    );
    since += elapsed;
    sum = { transactions: 0, merges: 0, undoneMerges: 0, held: 0 };
    from = blueScore;
  };
}
