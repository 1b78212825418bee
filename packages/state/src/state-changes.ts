/** The input of derived state: what a batch adds and removes, and the changes that follow. */
import type { ChainTime, ScriptKey, TransactionKey } from '@kasgres/database';
import type { DaaScore, Hash, Sompi, Transaction } from '@kasgres/kaspa';

export interface ChainBlock {
  /** chain_blocks.index. */
  index: number;
  /** Running maximum of the timestamps of the chain, Unix milliseconds. */
  chainTime: ChainTime;
  /** Number of blocks in its mergeset. */
  blocks: number;
  redBlocks: number;
  work: bigint;
}

/** The change of a script by a transaction. Amounts are in sompi. */
export interface ScriptDelta {
  sent: Sompi;
  received: Sompi;
  /** UTXOs created minus UTXOs spent. */
  utxoCount: number;
}

/** An accepted transaction, as far as a revert needs it. */
export interface TransactionDeltas {
  key: TransactionKey;
  chainBlock: ChainBlock;
  isCoinbase: boolean;
  /** By script key. */
  deltas: ReadonlyMap<ScriptKey, ScriptDelta>;
  /** Undefined for most transactions, which are in no user lane. */
  lane: LaneUse | undefined;
}

/** The user lane that a transaction is in. */
export interface LaneUse {
  /** subnetworks.id. */
  subnetwork: number;
  gas: bigint;
}

/** With the script of the output, by which `utxos` finds its row. */
export interface Outpoint {
  transaction: TransactionKey;
  index: number;
  script: ScriptKey;
}

export interface Utxo extends Outpoint {
  amount: Sompi;
  blockDaaScore: DaaScore;
  isCoinbase: boolean;
  covenantId: Hash | undefined;
}

export interface AcceptedTransaction extends TransactionDeltas {
  /** Its place among the transactions that the chain block accepts, from 0. */
  position: number;
  /**
   * Null while it is unknown; then the signature scripts of `content` may be those of another
   * variant.
   */
  acceptedVariant: number | null;
  /**
   * The transaction as it was accepted. Kinds keep of it only what they need, since it may be
   * large.
   */
  content: Transaction;
  /** One for each input. */
  spent: readonly Outpoint[];
  created: readonly Utxo[];
}

/**
 * The items of a batch in the order of the chain: each chain block comes before its accepted
 * transactions.
 */
export type BatchItem =
  | { kind: 'chain-block'; chainBlock: ChainBlock }
  | { kind: 'accepted'; transaction: AcceptedTransaction }
  /**
   * Scripts of the transactions that this batch counts, accepted or not, repeated for each
   * transaction.
   */
  | { kind: 'touched'; scripts: readonly number[] }
  /** Transactions of a block that this batch writes. */
  | { kind: 'contained'; transactions: readonly number[] }
  /** Transactions whose inputs this batch writes. */
  | { kind: 'spending'; transactions: readonly number[] }
  /** Variants in which transactions of earlier batches were accepted, which became known now. */
  | { kind: 'settled'; variants: readonly { transaction: number; variant: number }[] }
  /** Outputs that are spent by inputs of earlier batches, which this batch completes. */
  | { kind: 'spent'; outputs: readonly SpentOutput[] };

export interface SpentOutput {
  transaction: number;
  index: number;
}

export interface RemovedChainBlock {
  chainBlock: ChainBlock;
  /** Keys of the transactions that it accepted. */
  accepted: readonly bigint[];
}

/** A removed chain block with the deltas of the transactions that it accepted. */
export interface RevertedChainBlock extends RemovedChainBlock {
  transactions: readonly TransactionDeltas[];
}

/** The range of a batch, as values of chain_blocks.index. */
export interface BatchRange {
  checkpoint: number;
  /**
   * The highest chain block that remains after the removals; equals `checkpoint` without a reorg.
   */
  fork: number;
  forkTime: bigint;
  to: number;
  /** The key from which the batch writes transactions; pre-bootstrap ones have lower keys. */
  firstTransaction: number;
}

/**
 * The changes of one batch, by the class in which each kind keeps them. Kinds read each other's
 * changes by importing that class.
 */
export class StateChanges {
  readonly range: BatchRange;
  readonly #changes = new Map<new () => unknown, unknown>();

  constructor(range: BatchRange) {
    this.range = range;
  }

  of<Changes>(kind: new () => Changes): Changes {
    return getOrInsert(this.#changes, kind, () => new kind()) as Changes;
  }
}

export function getOrInsert<Key, Value>(map: Map<Key, Value>, key: Key, create: (key: Key) => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create(key);
    map.set(key, value);
  }
  return value;
}
