/**
 * The simulated network of the cookbook's results, the same in every run: four days in June 2025
 * with a growing hash rate, whose difficulty follows, and more payments by day than by night. It is
 * indexed to its end, with tags for the large owners and the names of templates that are part of
 * Kasgres.
 */
import { upsertTags } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import {
  DEFAULT_OPTIONS,
  type Landmark,
  landmarks,
  NodeServer,
  Random,
  SimulatedNode,
  Simulation,
  SIMNET_PARAMS,
  UtxoSetServer,
} from '@kasgres/devnet';
import { importShippedFile } from '@kasgres/indexer/testing';
import { workFromBits } from '@kasgres/kaspa';
import { NodeClient } from '@kasgres/node';
import { cluster } from '../simulation/clusters-harness.ts';
import { untilAtRest } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

const START_MS = Date.UTC(2025, 5, 16);
const HOUR_MS = 3_600_000;
const DAYS = 4;
const END_MS = START_MS + DAYS * 24 * HOUR_MS;

const TARGET_MS = 100_000;
const PARAMS = {
  ...SIMNET_PARAMS,
  targetTimePerBlockMs: TARGET_MS,
  difficulty: { windowSize: 40, sampleRate: 4, minWindowSize: 20 },
  coinbaseMaturity: 20,
  // Small enough for reds.
  ghostdagK: 18,
};
const OPTIONS = {
  ...DEFAULT_OPTIONS,
  seed: 'cookbook',
  lateRate: 0.03,
  redRate: 0.008,
  reorgRate: 0.01,
  doubleSpendRate: 0.03,
};

/** Hashes per millisecond on the first day, and its growth per day. */
const HASH_RATE = 20;
const GROWTH = 0.15;
const PAYMENTS_PER_BLOCK = 4;

export interface DemoIndex {
  node: SimulatedNode;
  /** From before the first block after genesis to after the last. */
  span: { from: Date; to: Date };
  tags: Landmark[];
  database: TestDatabase;
  close: () => Promise<void>;
}

export async function openDemoIndex(): Promise<DemoIndex> {
  const { node, keyring } = simulate();
  const server = await NodeServer.start({ state: node });
  const p2p = await UtxoSetServer.start({ network: node.network.id, set: () => node.pruningPointSet() });
  const database = await createTestDatabase();
  const client = new NodeClient({ url: server.url });
  const indexer = startIndexing({ server, p2p }, database.url);
  await Promise.race([untilAtRest(database.pool, client), indexer.ended]);
  await indexer.stop();
  await client.close();
  server.close();
  p2p.close();
  const tags = landmarks(keyring, node.network.addressPrefix);
  await upsertTags(database.pool, tags);
  await importShippedFile(database);
  await cluster(database, { depth: 0n }, 20_000);
  return {
    node,
    span: { from: new Date(START_MS), to: new Date(END_MS) },
    tags,
    database,
    close: () => database.drop(),
  };
}

function simulate(): Pick<Simulation, 'keyring'> & { node: SimulatedNode } {
  let now = START_MS;
  const node = new SimulatedNode({ params: PARAMS, now: () => now });
  const simulation = new Simulation(node, OPTIONS);
  for (let round = 0; ; round += 1) {
    const random = new Random('demo', round);
    const day = (now - START_MS) / (24 * HOUR_MS);
    const hashRate = HASH_RATE * (1 + GROWTH * day);
    // A Poisson process: intervals are exponential.
    now += Math.ceil((Number(workFromBits(node.consensus.virtual.bits)) / hashRate) * -Math.log(1 - random.fraction()));
    if (now >= END_MS) return { node, keyring: simulation.keyring };
    simulation.mine(now);
    simulation.pay(random.poisson(PAYMENTS_PER_BLOCK * (1 - 0.8 * Math.cos(2 * Math.PI * day))));
  }
}
