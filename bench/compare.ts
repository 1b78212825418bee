/**
 * Compares the speed of this checkout with that of another commit, in runs that alternate between
 * the two:
 *
 *   NODE_URL=grpc://127.0.0.1:16510 npm run bench:compare -- COMMIT sync
 *   npm run bench:compare -- COMMIT tip
 *   npm run bench:compare -- COMMIT read [text in the name of a read]
 *
 * `sync` runs `npm run bench:sync` of both against a loaded node, and compares catch-ups without
 * the start of the programs, which older commits do not measure. `tip` runs `npm run bench:tip` of
 * both, and compares the medians from a notification to the response; without NODE_URL, each has
 * its own simulated node. `read` runs `npm run bench:read` of both on a large index of each,
 * repeats reads with a ratio below 0.95, and fails if one is below again. Each prints the medians
 * of RUNS runs (default 5; of MEASURED_MS each for `read`, default 2,000) and their ratio: above 1,
 * this checkout is faster. The other commit is checked out into a temporary worktree with its own
 * dependencies. Uncommitted changes of this checkout are part of the measurement.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareReads } from './compare-reads.ts';
import { exit, median } from './options.ts';
import { parseCatchUpSeconds, parseTipMs } from './parse-output.ts';

const HERE = join(import.meta.dirname, '..');
const RUNS = Number(process.env['RUNS'] ?? 5);
const MEASURED_MS = Number(process.env['MEASURED_MS'] ?? 2_000);

interface Timed {
  script: string;
  /** Returns the time that one run took. */
  parse: (output: string) => number;
  unit: string;
}

const TIMED: Readonly<Record<string, Timed>> = {
  sync: { script: 'bench/sync.ts', parse: parseCatchUpSeconds, unit: 's' },
  tip: { script: 'bench/tip.ts', parse: parseTipMs, unit: 'ms' },
};
const KINDS = new Set([...Object.keys(TIMED), 'read']);
const [first = '', second = '', only = ''] = process.argv.slice(2);
const [commit, what] = KINDS.has(first) ? [second, first] : [first, second];
if (commit === '' || !KINDS.has(what) || (what === 'sync' && !process.env['NODE_URL'])) {
  exit(`usage: NODE_URL=grpc://HOST:PORT npm run bench:compare -- COMMIT sync
       npm run bench:compare -- COMMIT tip
       npm run bench:compare -- COMMIT read [text in the name of a read]`);
}

const other = checkOut(commit);
try {
  const timed = TIMED[what];
  if (timed !== undefined) compareTimes(timed);
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

function compareTimes({ script, parse, unit }: Timed): void {
  const times: Record<'before' | 'now', number[]> = { before: [], now: [] };
  for (let run = 0; run < RUNS; run += 1) {
    for (const [name, directory] of [
      ['before', other],
      ['now', HERE],
    ] as const) {
      // Older commits need an empty database for each run, so both use an embedded one.
      const env = { ...process.env, DATABASE_URL: undefined };
      const command = [script, '--json', '--runs', '1'];
      const time = parse(execFileSync(process.execPath, command, { cwd: directory, encoding: 'utf8', env }));
      times[name].push(time);
      console.log(`run ${run + 1}, ${name}: ${time.toFixed(1)} ${unit}`);
    }
  }
  const [before, now] = [median(times.before), median(times.now)];
  console.log(
    `medians: ${before.toFixed(1)} ${unit} before, ${now.toFixed(1)} ${unit} now; ratio of speeds ${(before / now).toFixed(3)}`,
  );
}
