/**
 * Follows the chain and retries after transient failures. Permanent failures stop the program with
 * an explanation.
 */
import { checkSchema, isDataError, isDiskFull, isQueryCanceled, isRetryableDatabaseError } from '@kasgres/database';
import type { Network } from '@kasgres/kaspa';
import {
  checkNode,
  NodeProtocolError,
  NodeRpcError,
  NodeUnavailableError,
  NodeUnsuitableError,
  p2pUrlOf,
  PeerRejectedError,
  PruningPointMovedError,
} from '@kasgres/node';
import { CommitNotices } from './apply/commit-notices.ts';
import { bootstrapTiming } from './bootstrap/bootstrap-block.ts';
import { Sessions } from './database.ts';
import { PreBootstrapTimes } from './pre-bootstrap-times.ts';
import { backoff, FatalError, sleep } from '@kasgres/runtime';
import type { IndexerOptions, RunIndexerOptions } from './dependencies.ts';
import { CheckpointMovedError, IncompleteUpdateError, NodeBehindError } from './errors.ts';
import { followChain } from './indexer.ts';
import type { FailureKind } from './metrics.ts';
import { watchNode } from './watch-node.ts';

/**
 * The program gives up after this many consecutive failures of unknown kind for each node, without
 * a batch between them.
 */
const MAX_UNKNOWN_FAILURES = 5;
const CHECK_DEADLINE_MS = 10_000;
const MAX_PAUSE_MS = 10_000;
/**
 * Kinds that fail over to the next node at once. Inconsistent responses may come from different
 * moments and are retried once first, as are failures of unknown kind, which may be due to a
 * response, too.
 */
const NODE_FAILURES: ReadonlySet<FailureKind> = new Set([
  'node-unavailable',
  'node-syncing',
  'node-behind',
  'node-unsuitable',
]);

export async function runIndexer(dependencies: RunIndexerOptions, signal: AbortSignal): Promise<void> {
  const { nodes, database, expectedNetwork, options, log, metrics, status, progress } = dependencies;
  const { maxPauseMs = MAX_PAUSE_MS } = options;
  let delays = backoff({ maxMs: maxPauseMs });
  let unknownFailures = 0;
  /** Consecutive failures that the node's responses may have caused. */
  let wrongResponses = 0;
  let gap: FatalError | undefined;
  const sessions = new Sessions();
  const notices = new CommitNotices(database.pool, log);
  const preBootstrapTimes = new PreBootstrapTimes();
  void watchNode(nodes, metrics, log, signal);
  for (;;) {
    const batchesBefore = progress.batches;
    try {
      await checkSchema(database.pool);
      const node = await nodes.connect(signal);
      const checks = { deadlineMs: CHECK_DEADLINE_MS, signal, ...(expectedNetwork && { network: expectedNetwork }) };
      const network = withDepths((await checkNode(node, checks)).network, options);
      status.isFollowing = true;
      const p2pUrl = options.p2pUrl ?? p2pUrlOf(nodes.url, network);
      const timing = options.bootstrapTiming ?? bootstrapTiming(network);
      const attempt = { ...dependencies, node, network, sessions, notices, preBootstrapTimes, p2pUrl, timing, gap };
      await followChain(attempt, signal);
      gap = undefined;
      notices.send();
      // A bootstrap is progress, too.
      nodes.resetFailures();
    } catch (error) {
      const wasCrossing = gap !== undefined;
      gap = undefined;
      if (signal.aborted) return;
      throwIfFatal(error);
      if (progress.batches > batchesBefore) {
        delays = backoff({ maxMs: maxPauseMs });
        unknownFailures = 0;
        wrongResponses = 0;
        nodes.resetFailures();
      }
      const kind = kindOf(error);
      unknownFailures = kind === 'unknown' ? unknownFailures + 1 : 0;
      if (unknownFailures >= MAX_UNKNOWN_FAILURES * nodes.count) throw error;
      wrongResponses = kind === 'node-response' || kind === 'unknown' ? wrongResponses + 1 : 0;
      metrics.failures.inc({ kind });
      // Between two attempts to cross the gap the node refuses again, so wrong responses never
      // follow each other.
      if (NODE_FAILURES.has(kind) || wrongResponses > 1 || (wasCrossing && kind === 'node-response')) {
        // The next node gets its retry, too.
        wrongResponses = 0;
        const next = await nodes.failOver(error as Error);
        // The next attempt reads from the database whether the index may bootstrap again.
        if (typeof next === 'object') gap = next.gap;
        if (next !== 'pause') continue;
      }
      const delayMs = delays.next().value;
      log.warn({ kind, err: error, delayMs }, 'stopped following; retrying from the checkpoint');
      if (isDiskFull(error)) {
        log.error("the database's disk is full: free some space, and the indexer continues without loss");
      }
      await sleep(delayMs, signal).catch(() => undefined);
    } finally {
      status.isFollowing = false;
    }
    if (signal.aborted) return;
  }
}

function withDepths(network: Network, { finalityDepth, pruningDepth }: IndexerOptions): Network {
  return {
    ...network,
    finalityDepth: finalityDepth ?? network.finalityDepth,
    pruningDepth: pruningDepth ?? network.pruningDepth,
  };
}

function throwIfFatal(error: unknown): void {
  // Another node may be suitable.
  if (error instanceof NodeUnsuitableError) return;
  if (error instanceof FatalError) throw error;
  if (error instanceof CheckpointMovedError) throw new FatalError(error.message, { cause: error });
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof NodeUnavailableError) return 'node-unavailable';
  if (error instanceof NodeRpcError) return error.kind === 'ibd' ? 'node-syncing' : 'node-response';
  if (error instanceof NodeBehindError) return 'node-behind';
  if (error instanceof NodeUnsuitableError) return 'node-unsuitable';
  if (error instanceof NodeProtocolError || error instanceof IncompleteUpdateError) return 'node-response';
  if (error instanceof PruningPointMovedError || error instanceof PeerRejectedError) return 'node-response';
  if (isRetryableDatabaseError(error) || isQueryCanceled(error)) return 'database';
  // Everything that is encoded or written comes from the node, so it sent what no column can hold.
  if (isDataError(error) || error instanceof RangeError) return 'node-response';
  return 'unknown';
}
