/**
 * The expected result of a recording, in the form of its `expected.json`. Hashes are hex, amounts
 * are in sompi.
 */
export interface Reorg {
  checkpoint: string;
  fromSink: string;
  toSink: string;
  depth: number;
  /** From the old sink down. */
  removed: string[];
  /** Up to the new sink. */
  added: string[];
  /** Transactions that were accepted before and are not after. */
  txsUnaccepted: string[];
  coinbasesUnaccepted: string[];
  /** Transactions that another block accepts. */
  txsMoved: { tx: string; from: string; to: string }[];
  /** The unaccepted transactions that are accepted at the end, and the others. */
  finallyAccepted: string[];
  neverAcceptedAgain: string[];
}

export interface Oracle {
  genesis: string;
  finalSink: string;
  finalSinkBlueScore: number;
  circulatingSupply: { atSink: string; inNonStandardScriptsAtSink: string };
  /** From genesis, which is left out, to the sink. */
  chainBlocks: string[];
  acceptedTxToAcceptingBlock: Record<string, string>;
  /** Sorted. */
  minedButNotAcceptedTxs: string[];
  /** Sorted blocks of the ids that are in several blocks. */
  txToContainingBlocks: Record<string, string[]>;
  reorgs: Reorg[];
  /** The transactions that any reorg unaccepted, sorted. */
  unacceptedByReorgs: string[];
  /** The addresses that an accepted transaction names. */
  balances: Record<string, { atSink: string; txCountAtSink: number }>;
  utxoCountAtSink: number;
  checkpoints: { name: string; sink: string }[];
  counts: Record<string, unknown>;
}
