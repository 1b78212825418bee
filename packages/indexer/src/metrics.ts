/** The metrics of the indexer. Unknown values are NaN, on which no alert fires. */
import { Counter, Gauge, Histogram, type Registry } from '@kasgres/runtime';

const FAILURE_KINDS = [
  'node-unavailable',
  'node-syncing',
  'node-behind',
  'node-unsuitable',
  'node-response',
  'database',
  'unknown',
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export class Positions {
  nodeBlueScore = Number.NaN;
  blueScore = Number.NaN;
  #timestampMs = Number.NaN;

  indexIsAt(blueScore: bigint, blockTimestamp: bigint | undefined): void {
    // An update may consist of blocks beside the sink only.
    if (Number(blueScore) === this.blueScore) return;
    this.blueScore = Number(blueScore);
    this.#timestampMs = Number(blockTimestamp ?? Number.NaN);
  }

  nodeIsAt(blueScore: bigint): void {
    this.nodeBlueScore = Number(blueScore);
  }

  lagBlocks(): number {
    return Math.max(0, this.nodeBlueScore - this.blueScore);
  }

  /**
   * Returns 0 at the node's sink regardless of its age, since a quiet network mines no blocks (as
   * in /v1/status).
   */
  lagSeconds(nowMs: number): number {
    if (this.blueScore >= this.nodeBlueScore) return 0;
    return Math.max(0, (nowMs - this.#timestampMs) / 1_000);
  }
}

export function createMetrics(registry: Registry) {
  const registers = [registry];
  const positions = new Positions();
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });
  const measure = (name: string, help: string, value: () => number): void => {
    const measured: Gauge = new Gauge({ name, help, registers, collect: () => measured.set(value()) });
  };
  measure('kasgres_indexer_node_blue_score', "Blue score of the node's sink", () => positions.nodeBlueScore);
  measure('kasgres_indexer_blue_score', 'Blue score of the checkpoint', () => positions.blueScore);
  measure('kasgres_indexer_lag_blocks', 'Blue scores from the checkpoint to the sink', () => positions.lagBlocks());
  measure('kasgres_indexer_lag_seconds', "Age of the checkpoint's block; 0 when it is as high as the sink", () =>
    positions.lagSeconds(Date.now()),
  );
  const failures = counter(
    'kasgres_indexer_failures_total',
    'Failures after which the indexer retried from the checkpoint, by kind',
    'kind',
  );
  // A series that begins with the first failure would show no increase.
  for (const kind of FAILURE_KINDS) failures.inc({ kind }, 0);
  return {
    positions,
    nodeConnected: gauge('kasgres_indexer_node_connected', '1 while the node responds, else 0'),
    nodeSynced: gauge('kasgres_indexer_node_synced', '1 while the node says that it is synced, else 0'),
    nodeFailovers: counter('kasgres_indexer_node_failovers_total', 'Failovers from a node of NODE_URL to the next'),
    nodeFollowed: gauge(
      'kasgres_indexer_node_followed',
      '1 for the node of NODE_URL that is followed, 0 for those that were before',
      'node',
    ),
    bootstrapUtxos: gauge(
      'kasgres_indexer_bootstrap_utxos_loaded',
      'UTXOs loaded for a bootstrap in progress; 0 without one',
    ),
    notificationQueue: gauge(
      'kasgres_indexer_notification_queue_usage',
      "Used part of Postgres's queue of notifications, of all databases: 0 to 1",
    ),
    gaps: gauge('kasgres_indexer_gaps', 'Stretches of the chain that are missing'),
    lastGap: gauge('kasgres_indexer_last_gap_timestamp_seconds', 'When the latest gap was recorded; 0 without one'),
    rows: counter('kasgres_indexer_rows_total', 'Rows written by COPY', 'table'),
    batches: counter('kasgres_indexer_batches_total', 'Batches applied'),
    cuts: counter('kasgres_indexer_cuts_total', 'Times that RETENTION removed the oldest part of the chain'),
    stageSeconds: new Histogram({
      name: 'kasgres_indexer_stage_seconds',
      help: 'Time by stage: wait for the source, prepare and apply of each batch, finish of the first catch-up, cut of the oldest part of the chain',
      labelNames: ['stage'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    }),
    reorgs: counter('kasgres_indexer_reorgs_total', 'Reorgs'),
    reorgDepth: new Histogram({
      name: 'kasgres_indexer_reorg_depth_blocks',
      help: 'Chain blocks removed by a reorg',
      buckets: [1, 2, 5, 10, 50, 100, 1000],
      registers,
    }),
    failures,
    clustering: {
      blueScore: gauge(
        'kasgres_indexer_clustered_blue_score',
        'Blue score of the last chain block whose transactions are clustered',
      ),
      transactions: counter('kasgres_indexer_clustered_transactions_total', 'Accepted transactions processed'),
      merges: counter('kasgres_indexer_cluster_merges_total', 'Merges of clusters'),
      undoneMerges: counter('kasgres_indexer_cluster_merges_reverted_total', 'Merges reverted by reorgs'),
      heldMerges: counter('kasgres_indexer_cluster_merges_held_total', 'Merges held at the size limit of a cluster'),
      held: gauge('kasgres_indexer_cluster_merges_pending', 'Merges pending for kasgres clusters review'),
      stepSeconds: new Histogram({
        name: 'kasgres_indexer_clustering_step_seconds',
        help: 'Time of a step of clustering, during which the chain is not written',
        buckets: [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 2, 10],
        registers,
      }),
      failures: counter('kasgres_indexer_clustering_failures_total', 'Failures after which clustering restarted'),
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
