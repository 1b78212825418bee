import type { Hash } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import type { AddedChainBlock, ChainUpdate } from '../chain-update.ts';

/**
 * Memory of decoded blocks besides the bytes of scripts and payloads, as measured on Node 24
 * (bench/README.md, "Memory").
 */
const BLOCK_BYTES = 4_000;
const TRANSACTION_BYTES = 700;
const INPUT_BYTES = 350;
const OUTPUT_BYTES = 230;
const ACCEPTED_ID_BYTES = 140;

export class OpenBatch {
  readonly #limits: { transactions: number; bytes: number };
  #removed: Hash[];
  #added: AddedChainBlock[] = [];
  #transactions = 0;
  #bytes = 0;

  constructor(removed: Hash[], limits: { transactions: number; bytes: number }) {
    this.#removed = removed;
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#added.length === 0;
  }

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

function memoryOf({ transactions }: RpcBlock): number {
  let bytes = BLOCK_BYTES;
  for (const { inputs, outputs, payload } of transactions) {
    bytes += TRANSACTION_BYTES + payload.length + INPUT_BYTES * inputs.length + OUTPUT_BYTES * outputs.length;
    for (const { signatureScript } of inputs) bytes += signatureScript.length;
    for (const { scriptPublicKey } of outputs) bytes += scriptPublicKey.script.length;
  }
  return bytes;
}
