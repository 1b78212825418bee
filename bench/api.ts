/**
 * Responses a second and response times of the API on a million transactions (test/plans/large-index.ts), by request:
 *
 *   npm run bench:api [text in the name of a request]
 *
 * The embedded Postgres and the API, a separate process, share the cores with this client. bench/README.md has figures.
 */
import { join } from 'node:path';
import type { Request } from '../test/plans/harness.ts';
import { type ComparedServer, endServer, sendRequests, serve } from './send-requests.ts';

const WARM_UP_MS = 500;
const MEASURED_MS = 3000;

const only = process.argv[2] ?? '';
const { child, ready } = await serve(join(import.meta.dirname, '..'));
try {
  console.log('| request | requests/s | p50 ms | p99 ms |\n|---|---|---|---|');
  for (const [name, request] of Object.entries(ready.requests)) {
    if (name.includes(only)) console.log(await measure(name, ready, request));
  }
} finally {
  await endServer(child);
}

async function measure(name: string, { url, key }: ComparedServer, request: Request): Promise<string> {
  await sendRequests(WARM_UP_MS, url, key, request);
  const times = (await sendRequests(MEASURED_MS, url, key, request)).toSorted((a, b) => a - b);
  const percentile = (share: number): string => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1);
  const perSecond = Math.round((times.length * 1000) / MEASURED_MS);
  return `| ${name} | ${perSecond} | ${percentile(0.5)} | ${percentile(0.99)} |`;
}
