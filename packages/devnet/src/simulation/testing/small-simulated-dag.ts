/** Small simulated networks for tests: rare events are frequent, and the test sets the clock. */
import { SIMNET_PARAMS } from '../consensus/params.ts';
import { DEFAULT_OPTIONS, type SimulationOptions } from '../../economy/options.ts';
import { Simulation } from '../generator/simulation.ts';
import { SimulatedNode, type SimulatedNodeOptions } from '../node/simulated-node.ts';
import type { BlockBody } from '../consensus/consensus.ts';

export const START_TIME = 1_800_000_000_000;

/** With a k of 8, late blocks become red. */
export const SMALL_PARAMS = { ...SIMNET_PARAMS, ghostdagK: 8, coinbaseMaturity: 20 };

const WILD_OPTIONS: SimulationOptions = {
  ...DEFAULT_OPTIONS,
  width: 1.5,
  lateRate: 0.05,
  redRate: 0.05,
  reorgRate: 0.02,
  duplicateRate: 0.3,
  doubleSpendRate: 0.1,
  variantRate: 0.1,
  sameCoinbaseRate: 0.5,
  versionOneRate: 0.3,
  nonStandardRate: 0.05,
};

export interface SmallSimulatedDag {
  node: SimulatedNode;
  simulation: Simulation;
  /** Every block, in the order of arrival. */
  bodies: BlockBody[];
}

export function smallNode(options: Partial<SimulatedNodeOptions> = {}): SimulatedNode {
  return new SimulatedNode({ params: SMALL_PARAMS, now: () => START_TIME, ...options });
}

/** Makes a network with this number of blocks, and two payments for each once there are UTXOs. */
export function smallSimulatedDag(
  seed: string,
  blocks: number,
  nodeOptions: Partial<SimulatedNodeOptions> = {},
  options: Partial<SimulationOptions> = {},
): SmallSimulatedDag {
  const bodies: BlockBody[] = [];
  const keep = (body: BlockBody): BlockBody => {
    bodies.push(body);
    return body;
  };
  const node = smallNode({ keep, ...nodeOptions });
  const simulatedDag = { node, simulation: new Simulation(node, { ...WILD_OPTIONS, ...options, seed }), bodies };
  growTo(blocks, simulatedDag);
  return simulatedDag;
}

export function growTo(blocks: number, { node, simulation }: SmallSimulatedDag): void {
  while (node.consensus.size < blocks) {
    simulation.mine(START_TIME + 500 * node.consensus.size);
    if (simulation.hasUtxos()) simulation.pay(2);
  }
}
