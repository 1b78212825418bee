/** Parameters of the economy. A rate is a probability. */
export interface EconomyOptions {
  /** Two runs with the same seed, options and times give the same hashes. */
  seed: string;

  /** Per payment. */
  versionOneRate: number;
  /** Per payment of version 1: it founds a covenant. */
  covenantRate: number;
  /** Per payment. */
  payloadRate: number;
  /** Per payment of an exchange: it sweeps many small UTXOs. */
  sweepRate: number;
  /** Per payment: several people make it together, and each gets the same amount out of it. */
  collaborativeRate: number;
  /** Per payment: its first input signs for anyone to add inputs, and another person adds one and takes the change. */
  anyoneCanPayRate: number;
  /** Per payment: one output has a script without an address. No mempool takes it, a miner mines it all the same. */
  nonStandardRate: number;
  /** Per payment: it has a lock time, a relative lock, or a subnetwork and gas. */
  specialRate: number;
  /** Per payee: the payment goes to a new address. */
  newAddressRate: number;

  /** Per address of a user. */
  ecdsaShare: number;
  /** Per address of a user. */
  scriptHashShare: number;
  miners: number;
  exchanges: number;
}

/** Parameters of the economy and of the simulated miners. */
export interface SimulationOptions extends EconomyOptions {
  /** The mean number of blocks that a miner has not heard of yet: 0 makes a chain, 3 a wide DAG. */
  width: number;
  /** Per block: its miner is 5 to 25 blocks behind. */
  lateRate: number;
  /** Per block: it was withheld for so long that it can only be red. */
  redRate: number;
  /** Per block: miners who were partitioned off a while ago publish a heavier branch instead. */
  reorgRate: number;
  /** Least and greatest number of chain blocks that such a branch replaces. */
  reorgDepth: readonly [number, number];

  /** Per payment in a block that a parallel miner does not know: that miner includes it as well. */
  duplicateRate: number;
  /** Per such payment: the parallel miner includes one that spends the same UTXO instead. */
  doubleSpendRate: number;
  /** Per such payment: the parallel miner includes another variant of it, with other or with broken signatures. */
  variantRate: number;
  /** Per block with another on the same parents: it has the same miner too, and so the same coinbase id. */
  sameCoinbaseRate: number;
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
  variantRate: 0.01,
  sameCoinbaseRate: 0.2,
  versionOneRate: 0.08,
  covenantRate: 0.2,
  payloadRate: 0.08,
  sweepRate: 0.25,
  collaborativeRate: 0,
  anyoneCanPayRate: 0,
  nonStandardRate: 0.001,
  specialRate: 0,
  newAddressRate: 0.3,
  ecdsaShare: 0.12,
  scriptHashShare: 0.08,
  miners: 6,
  exchanges: 4,
};
