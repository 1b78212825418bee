/**
 * Committed files that are generated must come out the same: `npm run check:drift` compares, `npm run generate` writes them
 * again.
 */
import { clientDrift } from './drift/client.ts';
import { configurationDrift } from './drift/configuration.ts';
import { cookbookDrift } from './drift/cookbook.ts';
import { databaseDrift } from './drift/database.ts';
import type { Drift } from './drift/generated-files.ts';
import { openapiDrift } from './drift/openapi.ts';
import { protocolDrift } from './drift/protocol.ts';

const drifts: Drift[] = [protocolDrift, databaseDrift, openapiDrift, clientDrift, configurationDrift, cookbookDrift];

if (process.argv.includes('--fix')) {
  for (const { name, fix } of drifts) {
    await fix();
    console.log(`generated: ${name}`);
  }
} else {
  let stale = 0;
  for (const { name, check } of drifts) {
    const files = await check();
    stale += files.length;
    console.log(files.length === 0 ? `up to date: ${name}` : `STALE: ${name}: ${files.join(', ')}`);
  }
  if (stale > 0) {
    console.error('Run `npm run generate` and commit what it writes.');
    process.exitCode = 1;
  }
}
