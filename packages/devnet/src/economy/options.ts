/** What the generator can vary. A rate is a probability. */
export interface SimulationOptions {
  /** Two runs of the same seed, options and times give the same hashes. */
  seed: string;

  /** Blocks that a miner has not heard of yet, in the mean: 0 makes a chain, 3 a wide DAG. */
  width: number;
  /** Of a block: its miner is far behind, 5 to 25 blocks. */
  lateRate: number;
  /** Of a block: it was withheld for so long that it can only be red. */
  redRate: number;
  /** Of a block: in its place a part of the miners, cut off a while ago, comes back with a heavier branch. */
  reorgRate: number;
  /** Least and greatest number of chain blocks that such a branch replaces. */
  reorgDepth: readonly [number, number];

  /** Of a payment in a block that a parallel miner does not know: that miner has it too. */
  duplicateRate: number;
  /** Of such a payment: the parallel miner has one that spends the same UTXO instead. */
  doubleSpendRate: number;
  /** Of such a payment: the parallel miner has another body of it, with other or with broken signatures. */
  twoBodiesRate: number;
  /** Of a block with another on the same parents: it has the same miner too, and so the same coinbase id. */
  sameCoinbaseRate: number;

  /** Of a payment. */
  versionOneRate: number;
  /** Of a payment of version 1: it founds a covenant. */
  covenantRate: number;
  /** Of a payment. */
  payloadRate: number;
  /** Of an exchange's payment: it gathers many small coins. */
  sweepRate: number;
  /** Of a payment: several people make it together, and each gets the same amount out of it. */
  collaborativeRate: number;
  /** Of a payment: somebody puts a UTXO in without asking what others put in, and another adds one and takes the change. */
  anyoneCanPayRate: number;
  /** Of a payment: one output's script is no address. No mempool takes it; a miner mines it all the same. */
  nonStandardRate: number;

  /** Of a user's address. */
  ecdsaShare: number;
  /** Of a user's address. */
  scriptHashShare: number;
  miners: number;
  exchanges: number;
}

/** A lively network, on which everything that an index must get right happens now and then. */
export const DEFAULT_OPTIONS: SimulationOptions = {
  seed: 'kasgres',
  width: 1.2,
  lateRate: 0.02,
  redRate: 0.001,
  reorgRate: 0.003,
  reorgDepth: [1, 8],
  duplicateRate: 0.15,
  doubleSpendRate: 0.02,
  twoBodiesRate: 0.01,
  sameCoinbaseRate: 0.2,
  versionOneRate: 0.08,
  covenantRate: 0.2,
  payloadRate: 0.08,
  sweepRate: 0.25,
  collaborativeRate: 0,
  anyoneCanPayRate: 0,
  nonStandardRate: 0.001,
  ecdsaShare: 0.12,
  scriptHashShare: 0.08,
  miners: 6,
  exchanges: 4,
};
