/**
 * Compares the speed of this checkout with that of another commit, in runs that alternate between the two:
 *
 *   npm run bench:compare -- COMMIT api [text in the name of a request]
 *   NODE_URL=grpc://127.0.0.1:16510 npm run bench:compare -- COMMIT sync
 *   npm run bench:compare -- COMMIT read [text in the name of a read]
 *
 * `api` sends the requests of `npm run bench:api` to both; `sync` runs `npm run bench:sync` of both against a loaded node, and compares
 * catch-ups without the start of the programs, which older commits do not measure. Each prints the medians of RUNS runs (default 5; of
 * MEASURED_MS each for `api` and `read`, default 2,000) and their ratio: above 1, this checkout is faster. `read` runs `npm run bench:read` of
 * both on a large index of each, repeats reads with a ratio below 0.95, and fails if one is below again. The
 * other commit is checked out into a temporary worktree with its own dependencies. Uncommitted changes of this checkout are part of the
 * measurement.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Request } from '../test/plans/harness.ts';
import { parseCatchUpSeconds } from './catch-up-seconds.ts';
import { compareReads } from './compare-reads.ts';
import { median } from './options.ts';
import { type ComparedServer, endServer, sendRequests, serve } from './send-requests.ts';

const HERE = join(import.meta.dirname, '..');
const RUNS = Number(process.env['RUNS'] ?? 5);
const WARM_UP_MS = 500;
const MEASURED_MS = Number(process.env['MEASURED_MS'] ?? 2_000);

const KINDS = new Set(['api', 'sync', 'read']);
const [first = '', second = '', only = ''] = process.argv.slice(2);
const [commit, what] = KINDS.has(first) ? [second, first] : [first, second];
if (commit === '' || !KINDS.has(what) || (what === 'sync' && !process.env['NODE_URL'])) {
  console.error('usage: npm run bench:compare -- COMMIT api [text in the name of a request]');
  console.error('       NODE_URL=grpc://HOST:PORT npm run bench:compare -- COMMIT sync');
  console.error('       npm run bench:compare -- COMMIT read [text in the name of a read]');
  process.exit(1);
}

const other = checkOut(commit);
try {
  if (what === 'sync') compareSync();
  else if (what === 'api') await compareApi();
  else {
    const directories = { before: other, now: HERE };
    const isWithinBound = await compareReads({ directories, runs: RUNS, seconds: MEASURED_MS / 1000, only });
    process.exitCode = isWithinBound ? 0 : 1;
  }
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', other], { cwd: HERE });
}

function checkOut(name: string): string {
  const directory = join(mkdtempSync(join(tmpdir(), 'kasgres-compare-')), 'checkout');
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', directory, name], { cwd: HERE, stdio: 'inherit' });
  execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: directory,
    stdio: 'inherit',
  });
  return directory;
}

function compareSync(): void {
  const seconds: Record<'before' | 'now', number[]> = { before: [], now: [] };
  for (let run = 0; run < RUNS; run += 1) {
    for (const [name, directory] of [
      ['before', other],
      ['now', HERE],
    ] as const) {
      const command = ['bench/sync.ts', '--json', '--runs', '1'];
      // Older commits need an empty database for each run, so both use an embedded one.
      const env = { ...process.env, DATABASE_URL: undefined };
      const output = execFileSync(process.execPath, command, { cwd: directory, encoding: 'utf8', env });
      const time = parseCatchUpSeconds(output);
      seconds[name].push(time);
      console.log(`run ${run + 1}, ${name}: ${time.toFixed(1)} s`);
    }
  }
  const [before, now] = [median(seconds.before), median(seconds.now)];
  console.log(
    `medians: ${before.toFixed(1)} s before, ${now.toFixed(1)} s now; ratio of speeds ${(before / now).toFixed(3)}`,
  );
}

/** Both servers run the whole time, and only one of them gets requests at a time. */
async function compareApi(): Promise<void> {
  const servers = [await serve(other), await serve(HERE)] as const;
  try {
    const [before, now] = servers;
    console.log(`| request | requests/s at ${commit} | requests/s now | ratio |\n|---|---|---|---|`);
    const ratios: number[] = [];
    for (const [name, request] of Object.entries(now.ready.requests)) {
      if (!name.includes(only)) continue;
      const sameRequest = before.ready.requests[name];
      if (sameRequest === undefined) {
        console.log(`| ${name} | | | not at ${commit} |`);
        continue;
      }
      const rates: [number[], number[]] = [[], []];
      for (let run = 0; run < RUNS; run += 1) {
        rates[0].push(await measure(before.ready, sameRequest));
        rates[1].push(await measure(now.ready, request));
      }
      const [was, is] = [median(rates[0]), median(rates[1])];
      ratios.push(is / was);
      console.log(`| ${name} | ${was.toFixed(0)} | ${is.toFixed(0)} | ${(is / was).toFixed(3)} |`);
    }
    const geometricMean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
    console.log(`geometric mean of ${ratios.length} ratios: ${geometricMean.toFixed(3)}`);
  } finally {
    for (const { child } of servers) await endServer(child);
  }
}

/** Returns responses a second. */
async function measure({ url, key }: ComparedServer, request: Request): Promise<number> {
  await sendRequests(WARM_UP_MS, url, key, request);
  return ((await sendRequests(MEASURED_MS, url, key, request)).length * 1000) / MEASURED_MS;
}
