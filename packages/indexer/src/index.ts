/** For tests and benchmarks only: programs start the indexer as a process (main.ts). */
export { openDatabase } from './database.ts';
export { envSchema, indexerOptions } from './env.ts';
export { keepFollowing, type KeepFollowingParts } from './keep-following.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { NodeChoice } from './node-choice.ts';
export { Progress } from './progress.ts';
export { fetchPages } from './source/pages.ts';
