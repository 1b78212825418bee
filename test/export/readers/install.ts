/**
 * Installs DuckDB and ClickHouse (600 MB) into this folder, before `npm run test:full`. Without a
 * network, or on a platform without builds of them, the tests that need them are skipped.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const TIMEOUT_MS = 300_000;

if (!existsSync(join(import.meta.dirname, 'node_modules/.package-lock.json'))) {
  // Keeps the settings of the npm that runs this, except for its prefix, which is the project.
  const { npm_config_local_prefix: _, ...env } = process.env;
  const options = ['--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1'];
  const { status } = spawnSync('npm', ['install', ...options], {
    cwd: import.meta.dirname,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
    timeout: TIMEOUT_MS,
  });
  if (status !== 0)
    console.error('could not install DuckDB and ClickHouse: tests that read exported files with them are skipped');
}
