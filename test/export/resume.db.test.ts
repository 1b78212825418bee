/**
 * An export continues where it was: after it was killed at any moment, while the chain grows, and
 * after a reorganisation of what it took for final. Its files always hold each row once, and no
 * other database is mixed in.
 */
import { readdirSync, watch } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, takeLock } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { atRest, indexFromScratch, createHarness, type Harness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { startExport } from './command.ts';
import { hasReaders } from './readers/readers.ts';
import { expectWhole, exportTo, freshFolder, listFiles, readManifest } from './harness.ts';

/** One for each way of cutting. */
const SOME = ['blocks', 'chain_blocks', 'outputs', 'network_hours'];

async function index({ simulatedDag, database, node }: Harness): Promise<void> {
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
}

test.skipIf(!hasReaders)('killed at many places, an export is whole after the next run', async () => {
  const harness = await createHarness('killed exports');
  const { simulatedDag, database } = harness;
  simulatedDag.mine(120);
  await index(harness);
  const directory = await freshFolder();
  const names = ['blocks', 'transactions', 'network_hours'];
  let kills = 0;
  for (let changes = 3; ; changes *= 2) {
    const program = startExport(database, [directory, ...names, '--depth', '3']);
    let left = changes;
    // Drafts, files and manifests come and go: this many changes of the directory are let through.
    const watcher = watch(directory, { recursive: true }, () => {
      left -= 1;
      if (left === 0) program.kill('SIGKILL');
    });
    const [code, printed] = await program.ended;
    watcher.close();
    if (code === 0) break;
    expect(code, printed).toBe(null);
    kills += 1;
    const known = new Set(await knownPaths(directory));
    expect(
      listFiles(directory).filter((name) => name.endsWith('.parquet') && !known.has(name)),
      'no reader meets what does not count yet',
    ).toEqual([]);
  }
  expect(kills).toBeGreaterThan(2);
  expect(await expectWhole(directory, database)).toBeGreaterThan(500);

  // The same in one go gives the same rows.
  const whole = await freshFolder();
  await exportTo(whole, database, { names, depth: 3n });
  expect(await rowsOf(directory)).toEqual(await rowsOf(whole));
});

async function rowsOf(directory: string): Promise<unknown[]> {
  return Object.entries((await readManifest(directory)).facts).map(([name, { files, last }]) => [
    name,
    last,
    files.reduce((rows, file) => rows + file.rows, 0),
  ]);
}

async function knownPaths(directory: string): Promise<string[]> {
  if (!readdirSync(directory).includes('manifest.json')) return [];
  return Object.values((await readManifest(directory)).facts).flatMap(({ files }) => files.map(({ path }) => path));
}

test.skipIf(!hasReaders)('a file that has no name yet gets it, and what is left of others goes', async () => {
  const harness = await createHarness('drafts');
  const { simulatedDag, database } = harness;
  simulatedDag.mine(120);
  await index(harness);
  const directory = await freshFolder();
  const names = ['blocks', 'transactions'];
  const { manifest } = await exportTo(directory, database, { names, depth: 0n });
  const path = join(directory, manifest.facts['transactions']?.files[1]?.path ?? '');
  await rename(path, `${path}.tmp`);
  await writeFile(join(directory, 'blocks/day=2025-06-15/000000000000.parquet.tmp'), 'PAR1');
  await writeFile(join(directory, 'blocks/day=2025-06-15/000000000000-000000000001.parquet'), 'PAR1');
  await writeFile(join(directory, 'manifest.json.tmp'), '{"fo');
  const { lines } = await exportTo(directory, database, { names, depth: 0n });
  expect(lines[0]).toContain('blocks/day=2025-06-15/000000000000.parquet.tmp');
  expect(lines[0]).toContain('blocks/day=2025-06-15/000000000000-000000000001.parquet');
  expect(lines.at(-1)).toBe('Nothing new: all final rows are already exported.');
  await expectWhole(directory, database);
});

test.skipIf(!hasReaders)('follows the chain in new files, and never touches those that are there', async () => {
  const harness = await createHarness('grows');
  const { simulatedDag, database, node } = harness;
  const directory = await freshFolder();
  const indexer = startIndexing(simulatedDag, database.url);
  let earlier = new Map<string, string>();
  simulatedDag.mine(60);
  for (let round = 0; round < 5; round += 1) {
    simulatedDag.mine(40);
    await atRest(database, node, indexer);
    // Deeper than any reorganisation of this simulated DAG.
    await exportTo(directory, database, { names: SOME, depth: 60n });
    await expectWhole(directory, database);
    const now = await contents(directory);
    for (const [path, bytes] of earlier) expect(now.get(path) === bytes, path).toBe(true);
    earlier = now;
  }
  expect(earlier.size).toBeGreaterThan(20);
  await indexer.stop();
});

async function contents(directory: string): Promise<Map<string, string>> {
  const paths = listFiles(directory).filter((path) => path.endsWith('.parquet'));
  return new Map(
    await Promise.all(
      paths.map(async (path) => [path, await readFile(join(directory, path), 'base64')] satisfies [string, string]),
    ),
  );
}

test.skipIf(!hasReaders)('a reorganisation below the depth replaces files from the fork on', async () => {
  const harness = await createHarness('reorganised exports');
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url);
  simulatedDag.mine(60);
  await atRest(database, node, indexer);
  const directory = await freshFolder();
  let replaced = 0;
  for (let round = 0; round < 6; round += 1) {
    await exportTo(directory, database, { names: SOME, depth: 0n });
    await expectWhole(directory, database);
    // Some of these rounds reorganise the chain.
    simulatedDag.mine(12);
    await atRest(database, node, indexer);
    const { lines } = await exportTo(directory, database, { names: SOME, depth: 0n });
    if (lines.some((line) => line.includes('a reorg removed'))) replaced += 1;
    await expectWhole(directory, database);
  }
  expect(replaced).toBeGreaterThan(0);
  await indexer.stop();
});

test.skipIf(!hasReaders)('the chain may be reorganised while an export runs', async () => {
  const harness = await createHarness('exports under way');
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url);
  simulatedDag.mine(60);
  await atRest(database, node, indexer);
  const directory = await freshFolder();
  const exports = (async () => {
    for (let run = 0; run < 6; run += 1) await exportTo(directory, database, { names: SOME, depth: 0n });
  })();
  for (let round = 0; round < 15; round += 1) {
    simulatedDag.mine(4);
    await sleep(60);
  }
  await exports;
  await atRest(database, node, indexer);
  await indexer.stop();
  await exportTo(directory, database, { names: SOME, depth: 0n });
  await expectWhole(directory, database);
});

test.skipIf(!hasReaders)(
  'another chain, another network, and tables among views are refused with an explanation',
  async () => {
    const harness = await createHarness('one chain');
    const { simulatedDag, database } = harness;
    simulatedDag.mine(60);
    await index(harness);
    const directory = await freshFolder();
    await exportTo(directory, database, { names: SOME, depth: 0n });

    // The same chain in another database is continued.
    const same = await indexFromScratch(harness);
    const { lines } = await exportTo(directory, same, { names: SOME, depth: 0n });
    expect(lines.at(-1)).toContain('Nothing new');

    const other = await createHarness('another chain');
    other.simulatedDag.mine(80);
    await index(other);
    await expect(exportTo(directory, other.database, { names: SOME, depth: 0n })).rejects.toThrow(
      'it has another chain',
    );
    await expectWhole(directory, database);

    await expect(exportTo(directory, database, { raw: true })).rejects.toThrow('holds views, not tables');
    await database.pool.query(`update meta set network = 'devnet'`);
    await expect(exportTo(directory, database)).rejects.toThrow(
      'holds an export of simnet, and this database is of devnet',
    );
    await database.pool.query(`update meta set network = 'simnet'`);

    const strange = await freshFolder();
    await writeFile(join(strange, 'thesis.txt'), 'mine');
    await expect(exportTo(strange, database)).rejects.toThrow('is not empty and has no manifest.json');
  },
);

test('two exports into one directory: the second is told who writes', async () => {
  const { database } = await createHarness('two exports');
  const directory = await freshFolder();
  const lock = await takeLock(join(directory, 'lock'), String);
  await expect(exportTo(directory, database)).rejects.toThrow(`Another export (process ${process.pid})`);
  await lock.release();
});

test('a directory that cannot be written is not a lost database', async () => {
  const harness = await createHarness('unwritable directory');
  harness.simulatedDag.mine(10);
  await index(harness);
  const directory = await freshFolder();
  await exportTo(directory, harness.database, { names: ['blocks'] });
  await mkdir(join(directory, 'manifest.json.tmp'));
  const [code, printed] = await startExport(harness.database, [directory, 'blocks']).ended;
  expect(code).toBe(1);
  expect(printed).toMatch(/^EISDIR: illegal operation on a directory, open '.*manifest.json.tmp'$/m);
});

test('in the first catch-up, and while nothing is deep enough, there is nothing to export', async () => {
  const harness = await createHarness('early');
  const { simulatedDag, database } = harness;
  const directory = await freshFolder();
  await expect(exportTo(directory, database)).rejects.toThrow('Nothing is indexed in this database yet');
  simulatedDag.mine(10);
  await index(harness);
  const { lines } = await exportTo(directory, database, { names: ['blocks'], depth: 1_000n });
  expect(lines).toEqual([
    'no chain block is final at a depth of 1000 yet',
    'Nothing new: all final rows are already exported.',
  ]);
});

test('days are those of the accepting block, and --from and --until name the first and the last', async () => {
  const harness = await createHarness('days');
  const { simulatedDag, database } = harness;
  simulatedDag.mine(300);
  await index(harness);
  const all = await freshFolder();
  const { manifest } = await exportTo(all, database, { names: ['blocks', 'network_hours'], depth: 0n });
  const days = [...new Set(manifest.facts['blocks']?.files.map(({ day }) => day))];
  expect(days.length).toBeGreaterThan(5);
  const [from, until] = [days[1] as string, days[3] as string];
  const some = await freshFolder();
  const names = ['blocks', 'transactions', 'network_hours'];
  const first = await exportTo(some, database, { names, depth: 0n, from, until });
  for (const name of names) {
    expect([...new Set(first.manifest.facts[name]?.files.map(({ day }) => day))], name).toEqual(days.slice(1, 4));
  }
  const rowsOfDay = ({ facts }: typeof manifest, name: string, day: string) =>
    facts[name]?.files.filter((file) => file.day === day).map(({ rows }) => rows);
  for (const name of ['blocks', 'network_hours']) {
    for (const day of days.slice(1, 4)) {
      expect(rowsOfDay(first.manifest, name, day)).toEqual(rowsOfDay(manifest, name, day));
    }
  }
  // The days after it can be added, those before it cannot.
  const next = await exportTo(some, database, { names, depth: 0n, from, until: days[4] as string });
  expect([...new Set(next.manifest.facts['blocks']?.files.map(({ day }) => day))]).toEqual(days.slice(1, 5));
  await expect(exportTo(some, database, { names, depth: 0n, from: days[0] as string })).rejects.toThrow(
    'Export the earlier days into another directory',
  );
});
