/**
 * Fetches DuckDB and ClickHouse into this folder, before `npm test`. Without a network, or on a machine that they are not built for, the
 * tests that read with them are skipped.
 */
import { spawnSync } from 'node:child_process';
import { findReaders } from './find-readers.ts';

if ((await findReaders()) === undefined) {
  // Without what npm tells its scripts: it would install into the project that it runs for.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const { status } = spawnSync('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: import.meta.dirname,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0)
    console.error('DuckDB and ClickHouse could not be had: tests that read exported files with them are skipped.');
}
