const ECONOMY = {
  /** Two runs with the same seed, options and times give the same hashes. */
  seed: 'kasgres',
  /** Per payment, as the other rates up to `specialRate`. A rate is a probability. */
  versionOneRate: 0.08,
  /** Per payment of version 1: it founds a covenant. */
  covenantRate: 0.2,
  payloadRate: 0.08,
  /** Per payment of an exchange: it sweeps many small UTXOs. */
  sweepRate: 0.25,
  /** Several people pay together, and each gets the same amount. */
  collaborativeRate: 0,
  /**
   * The first input signs for anyone to add inputs, and another person adds one and takes the
   * change.
   */
  anyoneCanPayRate: 0,
  /**
   * One output has a script without an address: no mempool takes the payment, but a miner mines it.
   */
  nonStandardRate: 0.001,
  /** The payment has a lock time, a relative lock, or a subnetwork and gas. */
  specialRate: 0,
  /**
   * Per payment: a transaction of an application follows it, with a covenant, a program, a lane or
   * a message (`Applications`).
   */
  applicationRate: 0.2,
  /** Per payee. */
  newAddressRate: 0.3,
  /** Per address of a user, as `scriptHashShare`. */
  ecdsaShare: 0.12,
  scriptHashShare: 0.08,
  miners: 6,
  exchanges: 4,
};

/**
 * Options of a lively network, on which everything that an index must handle happens now and then.
 */
export const DEFAULT_OPTIONS = {
  ...ECONOMY,
  /** The mean number of blocks that a miner does not know yet: 0 makes a chain, 3 a wide DAG. */
  width: 1.2,
  /** Per block: its miner is 5 to 25 blocks behind. */
  lateRate: 0.02,
  /** Per block: it was withheld until it can only be red. */
  redRate: 0.001,
  /** Per block: disconnected miners publish a heavier branch instead. */
  reorgRate: 0.003,
  /** Least and greatest number of chain blocks that such a branch replaces. */
  reorgDepth: [1, 8] as readonly [number, number],
  /** Per payment in a block that a parallel miner does not know: that miner includes it as well. */
  duplicateRate: 0.15,
  /** Per such payment: the parallel miner includes one that spends the same UTXO instead. */
  doubleSpendRate: 0.02,
  /**
   * Per such payment: the parallel miner includes another variant, with other or with broken
   * signatures.
   */
  variantRate: 0.01,
  /**
   * Per block with another on the same parents: it has the same miner, and so the same coinbase id.
   */
  sameCoinbaseRate: 0.2,
  /**
   * Per block: a hostile miner adds one or two that the rules in isolation allow, and most of which
   * can never be on the chain.
   */
  hostileRate: 0,
};

export type EconomyOptions = typeof ECONOMY;
export type SimulationOptions = typeof DEFAULT_OPTIONS;
