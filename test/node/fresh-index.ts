/** A second index of the same node, made from nothing: what invariant 5 compares with. */
import { createTestDatabase } from '@kasgres/database';
import type { NodeClient } from '@kasgres/node';
import { type Snapshot, takeSnapshot } from '../invariants/snapshot.ts';
import { untilAtRest } from './at-rest.ts';
import { startIndexer } from './programs.ts';

/** The node must be at rest. `env` is for the indexer. */
export async function snapshotOfFreshIndex(
  nodeUrl: string,
  node: NodeClient,
  env: Record<string, string> = {},
): Promise<Snapshot> {
  const database = await createTestDatabase();
  const indexer = startIndexer({ nodeUrl, databaseUrl: database.url }, env);
  try {
    await untilAtRest(database.pool, node, indexer);
    return await takeSnapshot(database.pool);
  } finally {
    await indexer.stop();
    await database.drop();
  }
}
