/** A Postgres as `npm start` has it, which waits for the disk, for the time of a measurement: what it wrote is gone with it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@kasgres/database';

export async function startDurablePostgres(): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'kasgres-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  const stop = async (): Promise<void> => {
    await postgres.stop();
    // Elsewhere where its account cannot enter the directory.
    for (const written of [postgres.directory, dataDir]) await rm(written, { recursive: true, force: true });
  };
  return { url: postgres.url, stop };
}
