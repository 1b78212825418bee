/** What the indexer counts. What is not known yet is NaN, on which no alert fires. */
import { Counter, Gauge, Histogram, type Registry } from '@kasgres/runtime';
import { Positions } from './positions.ts';

/** Why the indexer begins again at the checkpoint. */
export const FAILURE_KINDS = [
  'node-unavailable',
  'node-syncing',
  'node-behind',
  'node-unsuitable',
  'node-response',
  'database',
  'unknown',
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export function createMetrics(registry: Registry) {
  const registers = [registry];
  const positions = new Positions();
  const measure = (name: string, help: string, value: () => number): void => {
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(value()) });
  };
  measure('kasgres_indexer_node_blue_score', "Blue score of the node's sink", () => positions.nodeBlueScore);
  measure('kasgres_indexer_blue_score', 'Blue score of the checkpoint', () => positions.blueScore);
  measure('kasgres_indexer_lag_blocks', 'Blue scores from the checkpoint to the sink', () => positions.lagBlocks());
  measure('kasgres_indexer_lag_seconds', "Age of the checkpoint's block; 0 when it is as high as the sink", () =>
    positions.lagSeconds(Date.now()),
  );
  const failures = new Counter({
    name: 'kasgres_indexer_failures_total',
    help: 'Starts from the checkpoint after a failure, by kind of error',
    labelNames: ['kind'],
    registers,
  });
  // A series that begins with the first failure would show no increase.
  for (const kind of FAILURE_KINDS) failures.inc({ kind }, 0);
  return {
    positions,
    nodeConnected: new Gauge({
      name: 'kasgres_indexer_node_connected',
      help: '1 while the node answers, else 0',
      registers,
    }),
    nodeSynced: new Gauge({
      name: 'kasgres_indexer_node_synced',
      help: '1 while the node says that it is synced, else 0',
      registers,
    }),
    nodeFailovers: new Counter({
      name: 'kasgres_indexer_node_failovers_total',
      help: 'How often a node failed and the next of NODE_URL was taken',
      registers,
    }),
    nodeFollowed: new Gauge({
      name: 'kasgres_indexer_node_followed',
      help: '1 for the node of NODE_URL that is followed, 0 for those that were before',
      labelNames: ['node'],
      registers,
    }),
    bootstrapUtxos: new Gauge({
      name: 'kasgres_indexer_bootstrap_utxos_loaded',
      help: 'UTXOs that are loaded of the UTXO set of a coming start; 0 when none is coming',
      registers,
    }),
    gaps: new Gauge({ name: 'kasgres_indexer_gaps', help: 'Stretches of the chain that are missing', registers }),
    lastGap: new Gauge({
      name: 'kasgres_indexer_last_gap_timestamp_seconds',
      help: 'When the latest gap was recorded; 0 without one',
      registers,
    }),
    rows: new Counter({
      name: 'kasgres_indexer_rows_total',
      help: 'Rows written by COPY',
      labelNames: ['table'],
      registers,
    }),
    batches: new Counter({ name: 'kasgres_indexer_batches_total', help: 'Batches applied', registers }),
    stageSeconds: new Histogram({
      name: 'kasgres_indexer_stage_seconds',
      help: 'Time by stage: wait for the source, prepare and apply of each batch, finish of the first catch-up',
      labelNames: ['stage'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    }),
    reorgs: new Counter({ name: 'kasgres_indexer_reorgs_total', help: 'Reorgs undone', registers }),
    reorgDepth: new Histogram({
      name: 'kasgres_indexer_reorg_depth_blocks',
      help: 'Chain blocks removed by a reorg',
      buckets: [1, 2, 5, 10, 50, 100, 1000],
      registers,
    }),
    failures,
    clustering: createClusteringMetrics(registers),
  };
}

function createClusteringMetrics(registers: Registry[]) {
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  return {
    blueScore: new Gauge({
      name: 'kasgres_indexer_clustered_blue_score',
      help: 'Blue score of the last chain block whose transactions are clustered',
      registers,
    }),
    transactions: counter('kasgres_indexer_clustered_transactions_total', 'Accepted transactions gone through'),
    merges: counter('kasgres_indexer_cluster_merges_total', 'Merges of clusters'),
    undoneMerges: counter('kasgres_indexer_cluster_merges_reverted_total', 'Merges undone by reorgs'),
    heldMerges: counter('kasgres_indexer_cluster_merges_held_total', 'Merges that met the limit of a cluster'),
    held: new Gauge({
      name: 'kasgres_indexer_cluster_merges_pending',
      help: 'Merges that wait for a person (kasgres clusters review)',
      registers,
    }),
    stepSeconds: new Histogram({
      name: 'kasgres_indexer_clustering_step_seconds',
      help: 'Time of a step of clustering, during which the chain is not written',
      buckets: [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 2, 10],
      registers,
    }),
    failures: counter('kasgres_indexer_clustering_failures_total', 'Failures after which clustering began again'),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
