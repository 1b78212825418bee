/**
 * Follows the chain through everything that passes by itself: a node or database that goes away and comes back, answers that
 * do not fit together, a node in its initial download. What does not pass stops the program with words.
 */
import { type Connection, checkSchema, isDiskFull, isQueryCanceled, isRetryableDatabaseError } from '@kasgres/database';
import type { NetworkId } from '@kasgres/kaspa';
import {
  checkNode,
  type NodeClient,
  NodeProtocolError,
  NodeRpcError,
  NodeUnavailableError,
  NodeUnsuitableError,
} from '@kasgres/node';
import { backoff, FatalError, type Logger, sleep } from '@kasgres/runtime';
import { Sessions } from './apply/sessions.ts';
import { CheckpointMovedError, IncompleteUpdateError } from './errors.ts';
import { followChain, type IndexerOptions } from './indexer.ts';
import type { FailureKind, Metrics } from './metrics.ts';
import type { Progress } from './progress.ts';
import { watchNode } from './watch-node.ts';

/** Failures that nothing explains, one after the other without a batch between them, until the program gives up. */
const MAX_UNEXPLAINED = 5;

export interface KeepFollowingParts {
  node: NodeClient;
  database: Connection;
  /** Refuse a node of any other. */
  expectedNetwork: NetworkId | undefined;
  options: IndexerOptions;
  log: Logger;
  progress: Progress;
  metrics: Metrics;
  /** Set while the chain is being followed. */
  status: { isFollowing: boolean };
}

export async function keepFollowing(parts: KeepFollowingParts, signal: AbortSignal): Promise<void> {
  const { node, database, expectedNetwork, log, metrics, status, progress } = parts;
  let delays = backoff({ maxMs: 10_000 });
  let unexplained = 0;
  const sessions = new Sessions();
  void watchNode({ node, log, metrics }, signal);
  for (;;) {
    const batchesBefore = progress.batches;
    try {
      await checkSchema(database.pool);
      await node.waitUntilConnected({ signal });
      const { network } = await checkNode(node, { ...(expectedNetwork && { network: expectedNetwork }), signal });
      status.isFollowing = true;
      await followChain({ ...parts, network, sessions }, signal);
    } catch (error) {
      if (signal.aborted) return;
      throwIfFatal(error);
      if (progress.batches > batchesBefore) {
        delays = backoff({ maxMs: 10_000 });
        unexplained = 0;
      }
      const kind = kindOf(error);
      unexplained = kind === 'unexplained' ? unexplained + 1 : 0;
      if (unexplained >= MAX_UNEXPLAINED) throw error;
      metrics.failures.inc({ kind });
      const delayMs = delays.next().value;
      log.warn({ kind, err: error, delayMs }, 'stopped following; begins again at the checkpoint');
      if (isDiskFull(error)) {
        log.error("the database's disk is full: give it room, and the indexer goes on by itself; nothing is lost");
      }
      await sleep(delayMs, signal).catch(() => undefined);
    } finally {
      status.isFollowing = false;
    }
    if (signal.aborted) return;
  }
}

function throwIfFatal(error: unknown): void {
  if (error instanceof FatalError) throw error;
  if (error instanceof NodeUnsuitableError) throw new FatalError(error.message, { cause: error });
  if (error instanceof CheckpointMovedError) throw new FatalError(error.message, { cause: error });
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof NodeUnavailableError) return 'node-unavailable';
  if (error instanceof NodeRpcError) return error.kind === 'ibd' ? 'node-syncing' : 'node-answer';
  if (error instanceof NodeProtocolError || error instanceof IncompleteUpdateError) return 'node-answer';
  if (isRetryableDatabaseError(error) || isQueryCanceled(error)) return 'database';
  return 'unexplained';
}
