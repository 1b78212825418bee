/**
 * What the writer knows without asking Postgres: the keys of blocks, transactions, scripts and subnetworks that it saw last,
 * and the UTXOs of the transactions it wrote last. Everything here is a fact that no reorg changes. As long as the memory
 * was there from the first row on and forgot nothing, what it does not know does not exist, and nobody needs to be asked.
 */
import { COINBASE_SUBNETWORK, type Hash, NATIVE_SUBNETWORK, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import { HashIndex } from './hash-index.ts';
import { ScriptIndex, TwoGenerations, VariantIndex } from './two-generations.ts';
import { TransactionMemory } from './transaction-memory.ts';

/** Bounds, in entries. With the defaults of env.ts the whole is below 1 GiB. */
export interface MemoryLimits {
  blocks: number;
  transactions: number;
  outputs: number;
  /** A long one counts as several. */
  scripts: number;
  subnetworks: number;
  /** Second and further variants of transactions, and transactions from before the start that were written since. */
  variants: number;
}

/** The two that the schema comes with, under their keys. All others are named by transactions. */
const BUILT_IN_SUBNETWORKS = [NATIVE_SUBNETWORK, COINBASE_SUBNETWORK];

export class Memory {
  readonly blocks: TwoGenerations<Uint8Array, number>;
  readonly transactions: TwoGenerations<Uint8Array, number>;
  readonly utxos: TransactionMemory;
  readonly scripts: TwoGenerations<string, number>;
  /** By hex. Any transaction may name one that is new. */
  readonly subnetworks: TwoGenerations<string, number>;
  /** Hashes of second and further bodies, by transaction key; only of transactions that have such. */
  readonly variants: TwoGenerations<number, readonly Uint8Array[]>;
  /** Blocks before a start that others refer to, by hex; there are few. */
  readonly preBootstrapBlocks = new Map<string, number>();
  /** Hashes of those transactions from before a start that were written since, by key. */
  readonly preBootstrapHashes: TwoGenerations<number, Uint8Array>;
  readonly #parts: readonly { readonly forgot: boolean; evict: () => void }[];
  readonly #fromTheFirstRow: boolean;

  constructor(limits: MemoryLimits, nextTransactionId: number, databaseIsEmpty: boolean) {
    this.blocks = new TwoGenerations(() => new HashIndex(), limits.blocks);
    this.transactions = new TwoGenerations(() => new HashIndex(), limits.transactions);
    this.utxos = new TransactionMemory(nextTransactionId, limits.outputs);
    this.scripts = new TwoGenerations(() => new ScriptIndex(), limits.scripts);
    this.subnetworks = new TwoGenerations(() => new Map<string, number>(), limits.subnetworks);
    this.variants = new TwoGenerations(() => new VariantIndex(), limits.variants);
    this.preBootstrapHashes = new TwoGenerations(() => new Map<number, Uint8Array>(), limits.variants);
    for (const [key, id] of BUILT_IN_SUBNETWORKS.entries()) this.subnetworks.set(toHex(id), key);
    this.#parts = [
      this.blocks,
      this.transactions,
      this.scripts,
      this.subnetworks,
      this.variants,
      this.preBootstrapHashes,
    ];
    this.#fromTheFirstRow = databaseIsEmpty;
  }

  /**
   * Called after each batch was prepared: only then may anything be forgotten, and never what belongs to this batch, since
   * its rows cannot be read back before they are committed.
   * @param firstNewTransaction key of the first transaction of the batch
   */
  endBatch(firstNewTransaction: number): void {
    for (const part of this.#parts) part.evict();
    this.utxos.evict(firstNewTransaction);
  }

  /** The key of a block that has a row, or is known as earlier than a start. */
  findBlock(hash: Hash): number | undefined {
    return (
      this.blocks.get(hash) ??
      (this.preBootstrapBlocks.size === 0 ? undefined : this.preBootstrapBlocks.get(toHex(hash)))
    );
  }

  /** The hash of body 0, of a transaction that was written lately. */
  findHash(key: number): Uint8Array | undefined {
    return this.utxos.findHash(key) ?? this.preBootstrapHashes.get(key);
  }

  get isComplete(): boolean {
    return this.#fromTheFirstRow && !this.utxos.forgot && !this.#parts.some(({ forgot }) => forgot);
  }
}

/** The key under which `scripts` holds a script: a char a byte, after a char that no byte can be where the version is not 0. */
export function scriptKey({ version, script }: ScriptPublicKey): string {
  const bytes = Buffer.from(script.buffer, script.byteOffset, script.length).toString('latin1');
  return version === 0 ? bytes : String.fromCodePoint(0x100 + version) + bytes;
}
