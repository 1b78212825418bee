/**
 * Compares the reads of `bench:read` of two checkouts, each with an index in its own schema version
 * in one embedded Postgres.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startTemporaryPostgres } from '@kasgres/database/embedded';
import { markdownTable, median } from './options.ts';
import { GROUPS } from './reads.ts';
import { openDatabase } from './run-database.ts';

/** A read below this is measured again before it counts. */
const LEAST_RATIO = 0.95;

interface Side {
  directory: string;
  databaseUrl: string;
}

type SideName = 'before' | 'now';
type Sides = Readonly<Record<SideName, Side>>;

/** Requests a second by run, of each read. */
export type Rates = ReadonlyMap<string, readonly number[]>;

export interface ComparedRead {
  name: string;
  before: number;
  now: number;
  ratio: number;
}

/**
 * Compares medians. Reads that only one side has are left out. A read that failed before, and has a
 * rate of 0, has a ratio of Infinity.
 */
export function compareRates(before: Rates, now: Rates): ComparedRead[] {
  return [...now].flatMap(([name, rates]) => {
    const others = before.get(name);
    if (others === undefined) return [];
    const [was, is] = [median(others), median(rates)];
    return [{ name, before: was, now: is, ratio: is / was }];
  });
}

export const isBelowBound = ({ ratio }: ComparedRead): boolean => ratio < LEAST_RATIO;

interface Options {
  directories: Readonly<Record<SideName, string>>;
  runs: number;
  seconds: number;
  /** Text in the name of a read. */
  only: string;
}

/**
 * Prints the ratios, and returns whether each read is within the bound, at the latest when it is
 * repeated.
 */
export async function compareReads({ directories, runs, seconds, only }: Options): Promise<boolean> {
  await using ends = new AsyncDisposableStack();
  const { url } = ends.adopt(await startTemporaryPostgres(), (postgres) => postgres.stop());
  const sides: Sides = {
    before: await fill(url, 'before', directories.before),
    now: await fill(url, 'now', directories.now),
  };
  const found = compareRuns(sides, runs, seconds, only);
  print(found);
  const slower = found.filter(isBelowBound);
  if (slower.length === 0) return true;
  console.log(`repeated, since the ratio was below ${LEAST_RATIO}:`);
  const repeated = slower.flatMap(({ name }) =>
    compareRuns(sides, runs, seconds, name).filter((read) => read.name === name),
  );
  print(repeated);
  return !repeated.some(isBelowBound);
}

/** The script of a checkout that fills its own schema. */
const FILL = `
  import { connect, migrate } from '@kasgres/database';
  import { fillLargeIndex } from './test/plans/large-index.ts';
  const url = process.env['DATABASE_URL'];
  await migrate(url);
  const database = connect({ url, applicationName: 'kasgres bench' });
  await fillLargeIndex(database.pool);
  await database.close();
`;

async function fill(serverUrl: string, name: SideName, directory: string): Promise<Side> {
  await using ends = new AsyncDisposableStack();
  await openDatabase(ends, serverUrl, 1).pool.query(`create database bench_${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/bench_${name}`;
  run({ directory, databaseUrl: url.href }, ['--input-type=module', '--eval', FILL]);
  return { directory, databaseUrl: url.href };
}

/** Runs alternate between the sides. */
function compareRuns(sides: Sides, runs: number, seconds: number, only: string): ComparedRead[] {
  const rates = { before: new Map<string, number[]>(), now: new Map<string, number[]>() };
  for (let count = 0; count < runs; count += 1) {
    for (const side of ['before', 'now'] as const) {
      for (const group of Object.keys(GROUPS)) {
        for (const { name, perSecond } of measure(sides[side], group, seconds, only)) {
          rates[side].set(name, [...(rates[side].get(name) ?? []), perSecond]);
        }
      }
    }
  }
  return compareRates(rates.before, rates.now);
}

interface Measured {
  name: string;
  perSecond: number;
}

function measure(side: Side, group: string, seconds: number, only: string): Measured[] {
  const options = ['--json', '--runs=1', `--seconds=${seconds}`, `--group=${group}`, `--checkout=${side.directory}`];
  return JSON.parse(run(side, [join(import.meta.dirname, 'read.ts'), ...options, only])) as Measured[];
}

const run = ({ directory, databaseUrl }: Side, args: readonly string[]): string =>
  execFileSync(process.execPath, [...args], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 24,
  });

function print(reads: readonly ComparedRead[]): void {
  const rows = reads.map(({ name, before, now, ratio }) => [name, before.toFixed(0), now.toFixed(0), ratio.toFixed(3)]);
  console.log(markdownTable(['read', 'requests/s before', 'requests/s now', 'ratio'], rows));
}
