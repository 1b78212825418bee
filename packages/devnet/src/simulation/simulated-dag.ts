import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type BlockLevels, SIMNET_PARAMS } from './consensus/params.ts';
import type { BlockBody } from './consensus/consensus.ts';
import type { SimulationOptions } from '../economy/options.ts';
import { Simulation } from './generator/simulation.ts';
import { BlockDecoder, encodeBlock, Journal } from './journal.ts';
import { SimulatedNode } from './node/simulated-node.ts';

/** A simulated DAG that its opener must close. */
export interface OpenSimulatedDag {
  node: SimulatedNode;
  simulation: Simulation;
  close: () => void;
}

export interface SimulatedDagOptions {
  options: SimulationOptions;
  /** DAA scores; simnet's by default. */
  coinbaseMaturity?: number | undefined;
  /** Default: few levels, so that headers are small. The journal does not store this option. */
  blockLevels?: BlockLevels | undefined;
  /** The directory of the journal; without one nothing is persisted. */
  dataDir?: string | undefined;
  /** Unix milliseconds. */
  now: () => number;
}

/** The first record of a journal: the options that a chain cannot change. Blocks follow. */
const foundation = z.object({
  format: z.literal(3, { error: 'an older version wrote this chain: delete its directory to start a new one' }),
  seed: z.string(),
  coinbaseMaturity: z.number(),
});
type Foundation = z.infer<typeof foundation>;

/** Opens a simulated DAG. An existing chain keeps its seed and its coinbase maturity. */
export function openSimulatedDag(simulatedDagOptions: SimulatedDagOptions): OpenSimulatedDag {
  const { options, coinbaseMaturity = SIMNET_PARAMS.coinbaseMaturity, dataDir } = simulatedDagOptions;
  const wanted: Foundation = { format: 3, seed: options.seed, coinbaseMaturity };
  if (dataDir === undefined) return simulatedDagOn(wanted, simulatedDagOptions, [], undefined);
  mkdirSync(dataDir, { recursive: true });
  const { journal, records } = Journal.open(join(dataDir, 'chain.journal'));
  const [first, ...blocks] = records;
  if (first === undefined) journal.append(Buffer.from(JSON.stringify(wanted)));
  const known = first === undefined ? wanted : foundation.parse(JSON.parse(first.toString()));
  return simulatedDagOn(known, simulatedDagOptions, blocks, journal);
}

function simulatedDagOn(
  { seed, coinbaseMaturity }: Foundation,
  { options, now, blockLevels }: SimulatedDagOptions,
  blocks: readonly Buffer[],
  journal: Journal | undefined,
): OpenSimulatedDag {
  const params = { ...SIMNET_PARAMS, coinbaseMaturity, blockLevels };
  const decoder = new BlockDecoder();
  const node = new SimulatedNode({
    params,
    now,
    commitsToUtxos: true,
    keep: (body) => {
      const bytes = encodeBlock(body);
      journal?.append(bytes);
      // The decoded copy needs less memory: its byte arrays are views of one buffer.
      return decoder.decode(bytes);
    },
  });
  node.restore(decodeAll(decoder, blocks));
  const simulation = new Simulation(node, { ...options, seed });
  return { node, simulation, close: () => journal?.close() };
}

/** One block after the other, so that few are in memory twice. */
function* decodeAll(decoder: BlockDecoder, blocks: readonly Buffer[]): Generator<BlockBody> {
  for (const bytes of blocks) yield decoder.decode(bytes);
}
