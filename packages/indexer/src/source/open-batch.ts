/** What is to be handed on next: chain blocks that are whole, until there are enough for one database transaction. */
import type { Hash } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import type { AddedChainBlock, ChainUpdate } from '../chain-update.ts';

/**
 * Memory that decoded blocks take besides the bytes of their scripts and payloads, as measured on Node 24 (bench/README.md,
 * "Memory"): views of bytes, numbers of 64 bits and objects. What fills a block with the least bytes takes the most.
 */
const BLOCK_BYTES = 4_000;
const TRANSACTION_BYTES = 700;
const INPUT_BYTES = 350;
const OUTPUT_BYTES = 230;
const ACCEPTED_ID_BYTES = 140;

export interface BatchLimits {
  transactions: number;
  /** In memory, decoded. */
  bytes: number;
}

export class OpenBatch {
  readonly #limits: BatchLimits;
  #removed: Hash[];
  #added: AddedChainBlock[] = [];
  #transactions = 0;
  #bytes = 0;

  /** @param removed goes with the first that is taken */
  constructor(removed: Hash[], limits: BatchLimits) {
    this.#removed = removed;
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#added.length === 0;
  }

  /** A chain block with its mergeset cannot be divided: it holds one at least. */
  get isFull(): boolean {
    return this.#transactions >= this.#limits.transactions || this.#bytes >= this.#limits.bytes;
  }

  push(added: AddedChainBlock): void {
    this.#added.push(added);
    this.#bytes += ACCEPTED_ID_BYTES * added.acceptedTransactionIds.length;
    for (const block of added.mergeSet) {
      this.#transactions += block.transactions.length;
      this.#bytes += memoryOf(block);
    }
  }

  take(): Pick<ChainUpdate, 'removed' | 'added'> {
    const taken = { removed: this.#removed, added: this.#added };
    this.#removed = [];
    this.#added = [];
    this.#transactions = 0;
    this.#bytes = 0;
    return taken;
  }
}

/** An estimate. */
function memoryOf({ transactions }: RpcBlock): number {
  let bytes = BLOCK_BYTES;
  for (const { inputs, outputs, payload } of transactions) {
    bytes += TRANSACTION_BYTES + payload.length + INPUT_BYTES * inputs.length + OUTPUT_BYTES * outputs.length;
    for (const { signatureScript } of inputs) bytes += signatureScript.length;
    for (const { scriptPublicKey } of outputs) bytes += scriptPublicKey.script.length;
  }
  return bytes;
}
