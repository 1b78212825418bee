/** For tests and benchmarks only: programs start the indexer as a process (main.ts). */
export { openDatabase } from './database.ts';
export { envSchema, indexerOptions } from './env.ts';
export { keepFollowing, type KeepFollowingParts } from './keep-following.ts';
export { createMetrics } from './metrics.ts';
export { Progress } from './progress.ts';
export { fetchPages } from './source/pages.ts';
