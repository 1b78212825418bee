/**
 * A simulated node with its network, on a journal: what was in it is there again, and what comes is written to it. The journal starts with
 * what cannot change any more once there is a chain.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SIMNET_PARAMS } from './consensus/params.ts';
import type { BlockLevels } from './consensus/parent-levels.ts';
import type { SimulationOptions } from '../economy/options.ts';
import { Simulation } from './generator/simulation.ts';
import { BlockDecoder, encodeBlock } from './journal/block-codec.ts';
import { Journal } from './journal/journal.ts';
import { SimulatedNode } from './node/simulated-node.ts';

export interface SimulatedDag {
  node: SimulatedNode;
  simulation: Simulation;
  close: () => void;
}

export interface SimulatedDagOptions {
  options: SimulationOptions;
  /** DAA scores; simnet's by default. */
  coinbaseMaturity?: number | undefined;
  /** Default: few levels, so that headers are small. A journal does not keep them. */
  blockLevels?: BlockLevels | undefined;
  /** Where the journal is; without it nothing is kept. */
  dataDir?: string | undefined;
  /** Unix milliseconds. */
  now: () => number;
}

const foundation = z.object({
  format: z.literal(1),
  seed: z.string(),
  coinbaseMaturity: z.number(),
  /** Whether headers commit to the UTXO set. Chains founded by earlier versions do not. */
  commitsToUtxos: z.boolean().default(false),
});
type Foundation = z.infer<typeof foundation>;

/** A chain that is there already goes on with what it was founded with. */
export function openSimulatedDag(simulatedDagOptions: SimulatedDagOptions): SimulatedDag {
  const { options, coinbaseMaturity = SIMNET_PARAMS.coinbaseMaturity, dataDir } = simulatedDagOptions;
  const wanted: Foundation = { format: 1, seed: options.seed, coinbaseMaturity, commitsToUtxos: true };
  if (dataDir === undefined) return simulatedDagOn(wanted, simulatedDagOptions, [], undefined);
  mkdirSync(dataDir, { recursive: true });
  const { journal, records } = Journal.open(join(dataDir, 'chain.journal'));
  const [first, ...blocks] = records;
  if (first !== undefined) {
    return simulatedDagOn(foundation.parse(JSON.parse(first.toString())), simulatedDagOptions, blocks, journal);
  }
  journal.append(Buffer.from(JSON.stringify(wanted)));
  return simulatedDagOn(wanted, simulatedDagOptions, [], journal);
}

function simulatedDagOn(
  { seed, coinbaseMaturity, commitsToUtxos }: Foundation,
  { options, now, blockLevels }: SimulatedDagOptions,
  blocks: readonly Buffer[],
  journal: Journal | undefined,
): SimulatedDag {
  const params = { ...SIMNET_PARAMS, coinbaseMaturity, blockLevels };
  const decoder = new BlockDecoder();
  const node = new SimulatedNode({
    params,
    now,
    commitsToUtxos,
    keep: (body) => {
      const bytes = encodeBlock(body);
      journal?.append(bytes);
      // The node goes on with the copy: its parts are views of one buffer, where those of the original are a hundred.
      return decoder.decode(bytes);
    },
  });
  node.restore(blocks.values().map((bytes) => decoder.decode(bytes)));
  const simulation = new Simulation(node, { ...options, seed });
  return { node, simulation, close: () => journal?.close() };
}
