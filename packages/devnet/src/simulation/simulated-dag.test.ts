/** A network that is stopped and continued from its journal. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../economy/options.ts';
import { makePast } from './generator/simulation.ts';
import { START_TIME } from './testing/small-simulated-dag.ts';
import { openSimulatedDag, type OpenSimulatedDag } from './simulated-dag.ts';

const PAST = { pastBlocks: 150, pastTransactions: 200, blocksPerSecond: 2 };

let dataDir: string;
let now: number;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'simulatedDag-'));
  now = START_TIME;
});

afterEach(() => rmSync(dataDir, { recursive: true }));

test('it restores the same simulated DAG', async () => {
  const first = open();
  await makePast(first, PAST);
  first.close();
  const second = open();
  expect(summary(second)).toEqual(summary(first));
  second.close();
});

test('it generates the past up to now, only once', async () => {
  const simulatedDag = open();
  await makePast(simulatedDag, PAST);
  const { sink, size } = simulatedDag.node.consensus;
  expect(Number(sink.header.timestamp)).toBeLessThanOrEqual(now);
  // The last event may have brought a branch of several blocks, and came in the place of the first
  // of them.
  expect(Number(sink.header.timestamp)).toBeGreaterThan(now - 20_000);
  await makePast(simulatedDag, PAST);
  expect(simulatedDag.node.consensus.size).toBe(size);
  simulatedDag.close();
});

test('it drops an incomplete block at the end, and keeps everything before it', async () => {
  const first = open();
  await makePast(first, PAST);
  const { dag } = first.node;
  first.close();
  const journal = join(dataDir, 'chain.journal');
  truncateSync(journal, readFileSync(journal).length - 5);

  const second = open();
  expect(second.node.dag.size).toBe(dag.size - 1);
  for (const { hash } of second.node.dag.allBlocks()) expect(dag.find(hash)).toBeDefined();
  grow(second, 20);
  const grown = summary(second);
  second.close();
  expect(summary(closed(open()))).toEqual(grown);
});

test('a simulated DAG continues after a restart, with its UTXOs', async () => {
  const first = open();
  await makePast(first, PAST);
  first.close();
  const second = open();
  const before = transactionsIn(second);
  grow(second, 60);
  expect(transactionsIn(second) - before).toBeGreaterThan(50);
  second.close();
});

test('a chain keeps the seed and coinbase maturity it was created with', async () => {
  const first = open({ seed: 'first', coinbaseMaturity: 30 });
  await makePast(first, PAST);
  first.close();
  const second = open({ seed: 'second', coinbaseMaturity: 1000 });
  expect(second.node.consensus.params.coinbaseMaturity).toBe(30);
  expect(summary(second)).toEqual(summary(first));
  expect(second.simulation.keyring.miners[0]?.keys[0]).toEqual(first.simulation.keyring.miners[0]?.keys[0]);
  second.close();
});

test('a journal that ends in garbage loses only the garbage', async () => {
  const first = open();
  await makePast(first, PAST);
  first.close();
  appendFileSync(join(dataDir, 'chain.journal'), 'nonsense');
  expect(summary(closed(open()))).toEqual(summary(first));
});

function open({ seed = 'simulatedDag', coinbaseMaturity = 30 } = {}): OpenSimulatedDag {
  return openSimulatedDag({ options: { ...DEFAULT_OPTIONS, seed }, coinbaseMaturity, dataDir, now: () => now });
}

function closed(simulatedDag: OpenSimulatedDag): OpenSimulatedDag {
  simulatedDag.close();
  return simulatedDag;
}

function grow({ node, simulation }: OpenSimulatedDag, blocks: number): void {
  const target = node.consensus.size + blocks;
  while (node.consensus.size < target) {
    now += 500;
    simulation.mine(now);
    simulation.pay(2);
  }
}

function transactionsIn({ node }: OpenSimulatedDag): number {
  return [...node.dag.allBlocks()].reduce((sum, { transactions }) => sum + transactions.length - 1, 0);
}

function summary({ node }: OpenSimulatedDag): unknown {
  const { consensus, dag } = node;
  return {
    blocks: [...dag.allBlocks()].map(({ hash }) => hash),
    chain: dag.chainBlocks.map(({ hash }) => hash),
    virtualParents: consensus.virtual.parents.map(({ id }) => id),
    supply: consensus.utxos.total,
    utxos: consensus.utxos.size,
  };
}
