/** The options of the indexer, and what its parts depend on. */
import type { Connection } from '@kasgres/database';
import type { Network, NetworkId } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { FatalError, Logger } from '@kasgres/runtime';
import type { ClientBase } from 'pg';
import type { CommitNotices } from './apply/commit-notices.ts';
import type { Sessions } from './database.ts';
import type { Metrics } from './metrics.ts';
import type { NodeChoice } from './node-choice.ts';
import type { PreBootstrapTimes } from './pre-bootstrap-times.ts';
import type { Progress } from './progress.ts';
import type { Retention } from './retention/retention.ts';
import type { SourceLimits } from './source/source.ts';

export interface BootstrapTiming {
  /** Pauses before a UTXO set that does not match its commitment is read again. */
  rereadPausesMs: readonly number[];
  pollMs: number;
  /**
   * From the publication of a new pruning point until the node has probably advanced its UTXO set
   * to it.
   */
  settleMs: number;
  standstillMs: number;
}

export interface IndexerOptions extends SourceLimits {
  memoryTransactions: number;
  /**
   * The p2p address of a node that serves its UTXO set; by default the followed node at its
   * network's port.
   */
  p2pUrl: string | undefined;
  onGap: 'stop' | 'record';
  /**
   * By default those of the network; for a network with overridden parameters, which no RPC
   * returns.
   */
  finalityDepth?: bigint | undefined;
  pruningDepth?: bigint | undefined;
  bootstrapTiming?: BootstrapTiming;
  /** The longest pause after a failure; by default ten seconds. */
  maxPauseMs?: number;
  /** Older rows are removed; undefined: none. */
  retention?: Retention | undefined;
}

export interface RunIndexerOptions {
  nodes: NodeChoice;
  database: Connection;
  expectedNetwork: NetworkId | undefined;
  options: IndexerOptions;
  log: Logger;
  progress: Progress;
  metrics: Metrics;
  status: { isFollowing: boolean };
}

export interface IndexerDependencies extends RunIndexerOptions {
  node: NodeClient;
  network: Network;
  sessions: Sessions;
  notices: CommitNotices;
  preBootstrapTimes: PreBootstrapTimes;
  timing: BootstrapTiming;
  p2pUrl: string;
  /**
   * Set if no node has the chain after the checkpoint, and this one can serve the index after a
   * gap: the error to exit with, unless the index may restart at a pruning point.
   */
  gap: FatalError | undefined;
}

export interface BootstrapDependencies
  extends Pick<IndexerDependencies, 'node' | 'network' | 'options' | 'p2pUrl' | 'timing' | 'log' | 'metrics'> {
  client: ClientBase;
  signal: AbortSignal;
}
