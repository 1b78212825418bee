/**
 * The simulated network that the cookbook's responses are about: always the same one. Four days in June 2025 with a block each minute, whose
 * miners grow and whose difficulty follows them, and people who pay more by day than by night.
 */
import {
  DEFAULT_OPTIONS,
  landmarks,
  NodeServer,
  SimulatedNode,
  Simulation,
  SIMNET_PARAMS,
  UtxoSetServer,
} from '@kasgres/devnet';
import type { Landmark } from '@kasgres/devnet';
import { workFromBits } from '@kasgres/kaspa';
import { Random } from '../../packages/devnet/src/economy/random.ts';

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

/** Hashes a millisecond on the first day, and how much is added by the next. */
const HASH_RATE = 20;
const GROWTH = 0.15;
const PAYMENTS_PER_BLOCK = 4;

export interface DemoNetwork {
  node: SimulatedNode;
  server: NodeServer;
  p2p: UtxoSetServer;
  /** From before the first block after genesis to after the last. */
  span: { from: Date; to: Date };
  /** Names that people gave to addresses. */
  tags: Landmark[];
  stop: () => void;
}

export async function startDemoNetwork(): Promise<DemoNetwork> {
  let now = START_MS;
  const node = new SimulatedNode({ params: PARAMS, now: () => now });
  const simulation = new Simulation(node, OPTIONS);
  for (let round = 0; ; round += 1) {
    const random = new Random('demo', round);
    const day = (now - START_MS) / (24 * HOUR_MS);
    const hashRate = HASH_RATE * (1 + GROWTH * day);
    // A Poisson process: intervals are exponential.
    now += Math.ceil((Number(workFromBits(node.consensus.virtual.bits)) / hashRate) * -Math.log(1 - random.fraction()));
    if (now >= END_MS) break;
    simulation.mine(now);
    simulation.pay(random.poisson(PAYMENTS_PER_BLOCK * (1 - 0.8 * Math.cos(2 * Math.PI * day))));
  }
  const server = await NodeServer.start({ state: node });
  const p2p = await UtxoSetServer.start({ network: node.network.id, set: () => node.pruningPointSet() });
  return {
    node,
    server,
    p2p,
    span: { from: new Date(START_MS), to: new Date(END_MS) },
    tags: landmarks(simulation.keyring, node.network.addressPrefix),
    stop: () => {
      server.close();
      p2p.close();
    },
  };
}
