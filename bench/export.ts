/**
 * How fast `kasgres export` writes each view, on a million transactions (test/plans/large-index.ts):
 *
 *   npm run bench:export [-- VIEW…]
 *
 * An embedded Postgres and the command, a separate process, share the cores. bench/README.md has figures.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, migrate, startTemporaryPostgres } from '@kasgres/database';
import { fillLargeIndex } from '../test/plans/large-index.ts';

const KASGRES = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));

const directory = await mkdtemp(join(tmpdir(), 'kasgres-bench-'));
const postgres = await startTemporaryPostgres();
try {
  await migrate(postgres.url);
  const database = connect({ url: postgres.url, applicationName: 'kasgres bench' });
  await fillLargeIndex(database.pool);
  // Its year has few blocks a day: as files are made by day, a hundred days become one.
  await database.pool.query(
    'update chain_blocks set chain_time = first + (chain_time - first) / 100 from (select min(chain_time) as first from chain_blocks) f',
  );
  await database.pool.query('vacuum analyze chain_blocks');
  await database.close();
  const startedAt = performance.now();
  const program = spawn(process.execPath, [KASGRES, 'export', directory, ...process.argv.slice(2)], {
    env: { ...process.env, DATABASE_URL: postgres.url },
    stdio: 'inherit',
  });
  const [code] = (await once(program, 'exit')) as [number | null];
  console.log(`exit code ${code} after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
} finally {
  await postgres.stop();
  await rm(directory, { recursive: true });
}
