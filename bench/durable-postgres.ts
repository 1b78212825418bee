/** A temporary Postgres that waits for the disk, as that of `npm start` does. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@kasgres/database/embedded';

export async function startDurablePostgres(): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'kasgres-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  const stop = async (): Promise<void> => {
    await postgres.stop();
    // Postgres writes elsewhere if its account cannot enter the directory.
    for (const written of [postgres.directory, dataDir]) await rm(written, { recursive: true, force: true });
  };
  return { url: postgres.url, stop };
}
