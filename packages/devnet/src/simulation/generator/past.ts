/** Makes the past of a chain at once, as if it had grown until now. */
import { setImmediate } from 'node:timers/promises';
import type { SimulatedNode } from '../node/simulated-node.ts';
import { Random } from '../../economy/random.ts';
import type { Simulation } from './simulation.ts';

export interface Past {
  /** The number of blocks, genesis included; a few more if the last event brings several. */
  pastBlocks: number;
  /** Payments in all; they begin when the first rewards can be spent. */
  pastTransactions: number;
  blocksPerSecond: number;
}

const YIELD_EVERY_BLOCKS = 64;

/** Adds the missing blocks, with timestamps until now. */
export async function makePast(
  { node, simulation }: { node: SimulatedNode; simulation: Simulation },
  { pastBlocks, pastTransactions, blocksPerSecond }: Past,
  signal?: AbortSignal,
): Promise<void> {
  const { consensus } = node;
  const intervalMs = 1_000 / Math.max(blocksPerSecond, 1);
  const paymentsPerBlock = pastTransactions / Math.max(1, pastBlocks - consensus.params.coinbaseMaturity);
  const end = node.now();
  let due = 0;
  while (consensus.size < pastBlocks) {
    const jitter = new Random('jitter', consensus.size).fraction();
    simulation.mine(Math.round(end - (pastBlocks - consensus.size - jitter) * intervalMs));
    due = simulation.hasUtxos() ? due + paymentsPerBlock : 0;
    simulation.pay(Math.floor(due));
    due %= 1;
    if (consensus.size % YIELD_EVERY_BLOCKS === 0) await setImmediate();
    signal?.throwIfAborted();
  }
}
