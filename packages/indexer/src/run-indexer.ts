/**
 * Follows the chain through everything that passes by itself: a node or database that goes away and comes back, answers that
 * do not fit together, a node in its initial download. What does not pass stops the program with words.
 */
import { type Connection, checkSchema, isDiskFull, isQueryCanceled, isRetryableDatabaseError } from '@kasgres/database';
import type { Network, NetworkId } from '@kasgres/kaspa';
import {
  checkNode,
  type NodeClient,
  NodeProtocolError,
  NodeRpcError,
  NodeUnavailableError,
  NodeUnsuitableError,
  p2pUrlOf,
  PeerRejectedError,
  PruningPointMovedError,
} from '@kasgres/node';
import { Sessions } from './apply/sessions.ts';
import { PreBootstrapTimes } from './pre-bootstrap-times.ts';
import { backoff, FatalError, type Logger, sleep } from '@kasgres/runtime';
import { CheckpointMovedError, IncompleteUpdateError, NodeBehindError } from './errors.ts';
import { followChain, type IndexerOptions } from './indexer.ts';
import type { FailureKind, Metrics } from './metrics.ts';
import type { NodeChoice } from './node-choice.ts';
import type { Progress } from './progress.ts';
import { watchNode } from './watch-node.ts';

/** Failures that nothing explains, one after the other without a batch between them, until the program gives up. */
const MAX_UNEXPLAINED = 5;
/** A node that takes longer to say who it is counts as away. */
const CHECK_DEADLINE_MS = 10_000;
/** The next node is taken. Answers that do not fit together may be from different moments: they are asked for once more before. */
const NODE_FAILURES: ReadonlySet<FailureKind> = new Set([
  'node-unavailable',
  'node-syncing',
  'node-behind',
  'node-unsuitable',
]);

export interface RunIndexerOptions {
  nodes: NodeChoice;
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

export async function runIndexer(parts: RunIndexerOptions, signal: AbortSignal): Promise<void> {
  const { nodes, database, expectedNetwork, options, log, metrics, status, progress } = parts;
  let delays = backoff({ maxMs: 10_000 });
  let unexplained = 0;
  let wrongResponses = 0;
  let gap: FatalError | undefined;
  const sessions = new Sessions();
  const preBootstrapTimes = new PreBootstrapTimes();
  void watchNode({ nodes, log, metrics }, signal);
  for (;;) {
    const batchesBefore = progress.batches;
    try {
      await checkSchema(database.pool);
      const node = await nodes.connect(signal);
      const network = withDepths(await getNetworkOfNode(node, expectedNetwork, signal), options);
      status.isFollowing = true;
      const p2pUrl = options.p2pUrl ?? p2pUrlOf(nodes.url, network);
      await followChain({ ...parts, node, network, sessions, preBootstrapTimes, p2pUrl, gap }, signal);
      gap = undefined;
    } catch (error) {
      gap = undefined;
      if (signal.aborted) return;
      throwIfFatal(error);
      if (progress.batches > batchesBefore) {
        delays = backoff({ maxMs: 10_000 });
        unexplained = 0;
        wrongResponses = 0;
        nodes.served();
      }
      const kind = kindOf(error);
      unexplained = kind === 'unknown' ? unexplained + 1 : 0;
      if (unexplained >= MAX_UNEXPLAINED) throw error;
      wrongResponses = kind === 'node-response' ? wrongResponses + 1 : 0;
      metrics.failures.inc({ kind });
      try {
        if ((NODE_FAILURES.has(kind) || wrongResponses > 1) && (await nodes.moveOn(error as Error))) continue;
      } catch (refusal) {
        if (!(refusal instanceof FatalError) || !isGapError(error)) throw refusal;
        // The next attempt looks at the database to find out whether the program has to end.
        gap = refusal;
        nodes.served();
        continue;
      }
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

async function getNetworkOfNode(
  node: NodeClient,
  expected: NetworkId | undefined,
  signal: AbortSignal,
): Promise<Network> {
  const options = { deadlineMs: CHECK_DEADLINE_MS, signal };
  const { network } = await checkNode(node, { ...options, ...(expected && { network: expected }) });
  return network;
}

function withDepths(network: Network, { finalityDepth, pruningDepth }: IndexerOptions): Network {
  return {
    ...network,
    finalityDepth: finalityDepth ?? network.finalityDepth,
    pruningDepth: pruningDepth ?? network.pruningDepth,
  };
}

/** What comes after the checkpoint is not to be had from this node, however long it is asked. */
function isGapError(error: unknown): boolean {
  return error instanceof NodeUnsuitableError && (error.reason === 'pruned' || error.reason === 'other-chain');
}

function throwIfFatal(error: unknown): void {
  // Another node may do.
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
  return 'unknown';
}
