/**
 * Recent keys and outputs, which are facts that no reorg changes. A cache that is complete since
 * the first row makes queries unnecessary.
 */
import type { BlockKey, ScriptKey, TransactionKey } from '@kasgres/database';
import { COINBASE_SUBNETWORK, type Hash, NATIVE_SUBNETWORK, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import { HashIndex } from './hash-index.ts';
import { TransactionMemory } from './transaction-memory.ts';
import { TwoGenerations, WeightedMap } from './two-generations.ts';

/** The migrations insert these, with these indexes as keys. */
const BUILT_IN_SUBNETWORKS = [NATIVE_SUBNETWORK, COINBASE_SUBNETWORK];
const MIN_BLOCKS = 200_000;
/** The script of an address has at most 35 bytes. */
const USUAL_SCRIPT_BYTES = 40;

export class Memory {
  readonly blocks: TwoGenerations<Uint8Array, BlockKey>;
  readonly transactions: TwoGenerations<Uint8Array, TransactionKey>;
  readonly utxos: TransactionMemory;
  /** By `scriptKey`. */
  readonly scripts: TwoGenerations<string, ScriptKey>;
  readonly subnetworks: TwoGenerations<string, number>;
  /**
   * Numbers of second and further variants, by the hash of the transaction, which commits to its
   * id.
   */
  readonly variants: TwoGenerations<Uint8Array, number>;
  /** The highest number of a variant, by transaction key; only of transactions with several. */
  readonly lastVariants: TwoGenerations<TransactionKey, number>;
  /** Pre-bootstrap blocks that others refer to, by hex. There are few. */
  readonly preBootstrapBlocks = new Map<string, BlockKey>();
  /** Hashes of pre-bootstrap transactions that were written since, by key. */
  readonly preBootstrapHashes: TwoGenerations<number, Uint8Array>;
  readonly #caches: readonly { readonly forgot: boolean; evict: () => void }[];
  readonly #sinceFirstRow: boolean;

  constructor(limit: number, nextTransactionId: number, databaseIsEmpty: boolean) {
    const few = Math.ceil(limit / 32);
    this.blocks = new TwoGenerations(() => new HashIndex(), Math.max(MIN_BLOCKS, Math.floor(limit / 4)));
    this.transactions = new TwoGenerations(() => new HashIndex(), limit);
    this.utxos = new TransactionMemory(nextTransactionId, limit * 2);
    this.scripts = new TwoGenerations(() => new WeightedMap<string, ScriptKey>(weightOfScript), limit);
    this.subnetworks = new TwoGenerations(() => new Map<string, number>(), few);
    this.variants = new TwoGenerations(() => new HashIndex(), few);
    this.lastVariants = new TwoGenerations(() => new Map<TransactionKey, number>(), few);
    this.preBootstrapHashes = new TwoGenerations(() => new Map<number, Uint8Array>(), few);
    for (const [key, id] of BUILT_IN_SUBNETWORKS.entries()) this.subnetworks.set(toHex(id), key);
    const { blocks, transactions, scripts, subnetworks, variants, lastVariants, preBootstrapHashes } = this;
    this.#caches = [blocks, transactions, scripts, subnetworks, variants, lastVariants, preBootstrapHashes];
    this.#sinceFirstRow = databaseIsEmpty;
  }

  /**
   * Never evicts entries of the batch that begins with this transaction key, since its rows cannot
   * be read before they are committed.
   */
  endBatch(firstNewTransaction: number): void {
    for (const cache of this.#caches) cache.evict();
    this.utxos.evict(firstNewTransaction);
  }

  findBlock(hash: Hash): BlockKey | undefined {
    const key = this.blocks.get(hash);
    if (key !== undefined || this.preBootstrapBlocks.size === 0) return key;
    return this.preBootstrapBlocks.get(toHex(hash));
  }

  findHash(key: number): Uint8Array | undefined {
    return this.utxos.findHash(key) ?? this.preBootstrapHashes.get(key);
  }

  get isComplete(): boolean {
    return this.#sinceFirstRow && !this.utxos.forgot && !this.#caches.some(({ forgot }) => forgot);
  }
}

/**
 * Returns one character for each byte, after a character that is no byte if the version is not 0.
 */
export function scriptKey({ version, script }: ScriptPublicKey): string {
  const bytes = Buffer.from(script.buffer, script.byteOffset, script.length).toString('latin1');
  return version === 0 ? bytes : String.fromCodePoint(0x100 + version) + bytes;
}

/** V8 keeps a string with a character above 255 in two bytes per character. */
function weightOfScript(script: string): number {
  const bytes = script.length * ((script.codePointAt(0) ?? 0) > 0xff ? 2 : 1);
  return Math.max(1, Math.ceil(bytes / USUAL_SCRIPT_BYTES));
}
