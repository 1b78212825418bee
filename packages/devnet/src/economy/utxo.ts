/** The set of unspent outputs, and views of it through changes that are not made to it. */
import { HASH_BYTES, type Outpoint, type ScriptPublicKey, type Transaction, type Utxo } from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';

export interface UtxoEntry extends Utxo {
  /** The `outpointKey`. */
  readonly key: string;
}

/** An output that is both created and spent is in neither list. */
export interface UtxoDiff {
  readonly added: readonly UtxoEntry[];
  readonly removed: readonly UtxoEntry[];
}

export interface UtxoLookup {
  find(key: string): UtxoEntry | undefined;
}

const keyBytes = Buffer.alloc(HASH_BYTES + 4);

export function outpointKey({ transactionId, index }: Outpoint): string {
  keyBytes.set(transactionId);
  keyBytes.writeUInt32LE(index, HASH_BYTES);
  return keyBytes.toString('latin1');
}

/** Transactions wait in the mempool for many blocks, each of which asks for these keys. */
const spentKeys = new WeakMap<Transaction, readonly string[]>();

/** Returns the keys of the outputs that a transaction spends. */
export function spentKeysOf(transaction: Transaction): readonly string[] {
  let keys = spentKeys.get(transaction);
  if (keys === undefined) {
    keys = transaction.inputs.map(({ previousOutpoint }) => outpointKey(previousOutpoint));
    spentKeys.set(transaction, keys);
  }
  return keys;
}

export function scriptKey({ version, script }: ScriptPublicKey): string {
  return version === 0 ? bytesKey(script) : `${version}:${bytesKey(script)}`;
}

/** Returns a character for each byte, which takes less memory than hex. */
export function bytesKey(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Returns the outputs of a transaction as they enter the set when it is accepted. */
export function createdEntries(
  { transactionId, outputs }: Pick<DagTransaction, 'transactionId' | 'outputs'>,
  daaScore: number,
  isCoinbase: boolean,
): UtxoEntry[] {
  const blockDaaScore = BigInt(daaScore);
  return outputs.map(({ amount, scriptPublicKey, covenant }, index) => {
    const outpoint = { transactionId, index };
    const covenantId = covenant?.covenantId;
    return { key: outpointKey(outpoint), outpoint, amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId };
  });
}

export class UtxoSet implements UtxoLookup {
  private readonly entries = new Map<string, UtxoEntry>();
  private readonly byScript = new Map<string, Set<UtxoEntry>>();
  private sum = 0n;

  find(key: string): UtxoEntry | undefined {
    return this.entries.get(key);
  }

  apply({ added, removed }: UtxoDiff): void {
    for (const entry of removed) {
      this.entries.delete(entry.key);
      this.sum -= entry.amount;
      const script = scriptKey(entry.scriptPublicKey);
      const utxos = this.byScript.get(script);
      utxos?.delete(entry);
      if (utxos?.size === 0) this.byScript.delete(script);
    }
    for (const entry of added) {
      this.entries.set(entry.key, entry);
      this.sum += entry.amount;
      const script = scriptKey(entry.scriptPublicKey);
      this.byScript.set(script, (this.byScript.get(script) ?? new Set()).add(entry));
    }
  }

  utxosOf(script: ScriptPublicKey): UtxoEntry[] {
    return [...(this.byScript.get(scriptKey(script)) ?? [])];
  }

  /** Sompi. */
  get total(): bigint {
    return this.sum;
  }

  get size(): number {
    return this.entries.size;
  }

  values(): MapIterator<UtxoEntry> {
    return this.entries.values();
  }
}

/** Unspent outputs seen through changes that are not made to the base. */
export class UtxoView implements UtxoLookup {
  private readonly base: UtxoLookup;
  /** `undefined` for spent entries. */
  private readonly changes = new Map<string, UtxoEntry | undefined>();

  constructor(base: UtxoLookup) {
    this.base = base;
  }

  find(key: string): UtxoEntry | undefined {
    return this.changes.has(key) ? this.changes.get(key) : this.base.find(key);
  }

  /** Spends the removed entries before it creates the added ones. */
  apply({ added, removed }: UtxoDiff): void {
    for (const { key } of removed) this.changes.set(key, undefined);
    for (const entry of added) this.changes.set(entry.key, entry);
  }

  undo({ added, removed }: UtxoDiff): void {
    this.apply({ added: removed, removed: added });
  }

  /** Returns the difference to the base. */
  diff(): UtxoDiff {
    const added: UtxoEntry[] = [];
    const removed: UtxoEntry[] = [];
    for (const [key, entry] of this.changes) {
      const before = this.base.find(key);
      if (before === entry) continue;
      if (before !== undefined) removed.push(before);
      if (entry !== undefined) added.push(entry);
    }
    return { added, removed };
  }
}
