/** The simulated node and the network around it. */
export type { BlockBody } from './consensus/consensus.ts';
export { type BlockLevels, type ConsensusParams, SIMNET_PARAMS } from './consensus/params.ts';
export { MAINNET_LEVELS } from './consensus/parent-levels.ts';
export { DEFAULT_OPTIONS, type SimulationOptions } from '../economy/options.ts';
export { makePast, type Past, Simulation } from './generator/simulation.ts';
export { assembleBlock } from './node/assemble-block.ts';
export { SimulatedNode, type SimulatedNodeOptions } from './node/simulated-node.ts';
export { openSimulatedDag, type OpenSimulatedDag, type SimulatedDagOptions } from './simulated-dag.ts';
