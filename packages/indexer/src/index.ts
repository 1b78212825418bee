/** For tests and benchmarks only: programs start the indexer as a process (main.ts). */
export { keepClustering } from './clustering/keep-clustering.ts';
export { openClusteringDatabase, openDatabase } from './database.ts';
export { clusteringOptions, envSchema, indexerOptions } from './env.ts';
export { runIndexer } from './run-indexer.ts';
export type { RunIndexerOptions } from './dependencies.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { DEFAULT_MEMORY_LIMIT_MB, memoryBounds } from './memory-bounds.ts';
export { NodeChoice } from './node-choice.ts';
export { Progress } from './progress.ts';
export { fetchPages } from './source/pages.ts';
