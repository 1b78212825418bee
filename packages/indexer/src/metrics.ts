/** What the indexer counts. */
import { Counter, Gauge, Histogram, type Registry } from '@kasgres/runtime';

export function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    nodeBlueScore: new Gauge({
      name: 'kasgres_indexer_node_blue_score',
      help: "Blue score of the node's sink",
      registers,
    }),
    blueScore: new Gauge({ name: 'kasgres_indexer_blue_score', help: 'Blue score of the checkpoint', registers }),
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
    failures: new Counter({
      name: 'kasgres_indexer_failures_total',
      help: 'Starts from the checkpoint after a failure, by kind of error',
      labelNames: ['kind'],
      registers,
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
