/** Parts of chains that tests make by hand. */
export type { RecordedChain } from '../simulation/consensus/testing/recorded-chain.ts';
export { blockOn, FEE, payment, scriptOf, siblings } from '../simulation/testing/hand-made.ts';
export { hardPruningPoints } from '../simulation/testing/pruning-points.ts';
