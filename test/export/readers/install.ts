/**
 * Fetches DuckDB and ClickHouse into this folder, before `npm test`. Without a network, or on a machine that they are not built for, the
 * tests that read with them are skipped.
 */
import { spawnSync } from 'node:child_process';
import { findReaders } from './find-readers.ts';

const PATIENCE_MS = 300_000;

if ((await findReaders()) === undefined) {
  // With the settings of the npm that runs this, but into this folder: it would take the project's.
  const { npm_config_local_prefix: _, ...env } = process.env;
  const options = ['--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1'];
  const { status } = spawnSync('npm', ['install', ...options], {
    cwd: import.meta.dirname,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
    timeout: PATIENCE_MS,
  });
  if (status !== 0)
    console.error('DuckDB and ClickHouse could not be had: tests that read exported files with them are skipped.');
}
