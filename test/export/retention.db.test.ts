/**
 * RETENTION removes rows that were exported, and rows that were not exported yet. Files of the
 * archive stay in both cases.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { cluster } from '../simulation/clusters-harness.ts';
import { firstIndex } from '../simulation/retention-oracle.ts';
import { createPruningHarness, SHALLOW_MERGES } from '../simulation/bootstraps-harness.ts';
import { atRest, type Harness } from '../support/harness.ts';
import { type RunningIndexer, startIndexing } from '../support/simulated-dag.ts';
import { exportTo, freshFolder, listFiles, readManifest } from './harness.ts';

vi.setConfig({ testTimeout: 240_000 });

const VARIABLES = { FINALITY_DEPTH: '60', PRUNING_DEPTH: '70', RETENTION: '100' };
/** No reorg of the simulation is deeper. */
const REQUEST = { names: ['blocks', 'transactions', 'network_minutes'], depth: 60n };

async function startHarness(name: string): Promise<{ harness: Harness; indexer: RunningIndexer }> {
  const harness = await createPruningHarness(name, {}, SHALLOW_MERGES);
  harness.simulatedDag.mine(90);
  const indexer = startIndexing(harness.simulatedDag, harness.database.url, VARIABLES);
  await atRest(harness.database, harness.node, indexer);
  return { harness, indexer };
}

/**
 * Mines until the first chain block has an index above this one.
 * @param afterStep runs after every few blocks
 */
async function mineUntilCutAbove(
  { simulatedDag, database, node }: Harness,
  indexer: RunningIndexer,
  index: number,
  afterStep?: () => Promise<void>,
): Promise<void> {
  while ((await firstIndex(database)) <= index) {
    simulatedDag.mine(4);
    await atRest(database, node, indexer);
    await cluster(database, { depth: 10n });
    await afterStep?.();
  }
}

function contentsOf(directory: string): Map<string, string> {
  const names = listFiles(directory).filter((name) => name.endsWith('.parquet'));
  return new Map(names.map((name) => [name, readFileSync(join(directory, name), 'base64')]));
}

test('it continues an export whose earlier files are below the first chain block', async () => {
  const { harness, indexer } = await startHarness('retention of exported rows');
  const { database } = harness;
  const directory = await freshFolder();
  const exportNext = async (): Promise<void> => {
    const before = contentsOf(directory);
    const { lines } = await exportTo(directory, database, REQUEST);
    expect(lines.filter((line) => line.includes('reorg'))).toEqual([]);
    const after = contentsOf(directory);
    for (const [name, bytes] of before) expect(after.get(name) === bytes, name).toBe(true);
  };
  for (let round = 0; round < 2; round += 1) {
    await mineUntilCutAbove(harness, indexer, await firstIndex(database), exportNext);
  }
  await indexer.stop();
  const first = await firstIndex(database);
  const parts = (await readManifest(directory)).facts['blocks']?.files ?? [];
  expect(parts.filter(({ last }) => last < first).length).toBeGreaterThan(2);
  expect(parts.slice(1).map((part) => part.first)).toEqual(parts.slice(0, -1).map(({ last }) => last + 1));
});

test('it refuses to continue, and keeps every file, after rows were removed that it had not exported', async () => {
  const { harness, indexer } = await startHarness('retention of other rows');
  const { database } = harness;
  const directory = await freshFolder();
  const { manifest } = await exportTo(directory, database, REQUEST);
  const end = manifest.facts['blocks']?.last?.index ?? -1;
  const files = contentsOf(directory);
  expect(files.size).toBeGreaterThan(2);
  await mineUntilCutAbove(harness, indexer, end);
  await indexer.stop();
  await expect(exportTo(directory, database, REQUEST)).rejects.toThrow(
    `RETENTION removed chain blocks after ${end} that were not exported yet. The files stay. Export into another directory.`,
  );
  expect(contentsOf(directory)).toEqual(files);
  expect(await readManifest(directory)).toEqual(manifest);
});

test('it keeps the file of a reorg that begins below the first chain block', async () => {
  const { harness, indexer } = await startHarness('retention and a reorg');
  const { simulatedDag, database, node } = harness;
  const directory = await freshFolder();
  simulatedDag.mine(120);
  await atRest(database, node, indexer);
  const { manifest } = await exportTo(directory, database, { names: ['blocks'], depth: 0n });
  const exported = manifest.facts['blocks'];
  const end = exported?.last?.index ?? -1;
  await mineUntilCutAbove(harness, indexer, exported?.first.index ?? -1);
  await indexer.stop();
  expect(end).toBeGreaterThan(await firstIndex(database));
  // As if the exported chain had been reorganised from its beginning.
  const hash = '00'.repeat(32);
  for (const file of exported?.files ?? []) file.lastHash = hash;
  if (exported !== undefined) exported.last = { index: end, hash };
  await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest));
  const contents = contentsOf(directory);
  await expect(exportTo(directory, database, { names: ['blocks'], depth: 0n })).rejects.toThrow(
    `a reorg removed chain block ${end}, and RETENTION removed rows that would have to be exported again. The files stay.`,
  );
  expect(contentsOf(directory)).toEqual(contents);
});
