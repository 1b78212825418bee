/**
 * Unspent outputs: the set of the virtual block, the changes that a block makes to it, and views of the set as it was, or would be,
 * at another block. A view lies over the set without touching it and can be committed to it in the end.
 */
import { type Hash, HASH_BYTES, type Outpoint, type ScriptPublicKey, type Utxo } from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';

export interface UtxoEntry extends Utxo {
  /** Names the outpoint, see `outpointKey`. */
  readonly key: string;
}

/** The changes of a mergeset. An output that it both creates and spends is not part of them. */
export interface UtxoDiff {
  readonly added: readonly UtxoEntry[];
  readonly removed: readonly UtxoEntry[];
}

const keyBytes = Buffer.alloc(HASH_BYTES + 4);

/** A string for an outpoint, for use in maps: its bytes as characters. */
export function outpointKey({ transactionId, index }: Outpoint): string {
  keyBytes.set(transactionId);
  keyBytes.writeUInt32LE(index, HASH_BYTES);
  return keyBytes.toString('latin1');
}

export function scriptKey({ version, script }: ScriptPublicKey): string {
  return version === 0 ? bytesKey(script) : `${version}:${bytesKey(script)}`;
}

/** Any bytes as a string of as many characters: shorter than hex in memory. */
export function bytesKey(bytes: Hash): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** The outputs of a transaction as they enter the set when it is accepted. */
export function createdEntries(
  transaction: Pick<DagTransaction, 'transactionId' | 'outputs'>,
  daaScore: number,
  isCoinbase: boolean,
): UtxoEntry[] {
  const { transactionId } = transaction;
  const blockDaaScore = BigInt(daaScore);
  return transaction.outputs.map(({ amount, scriptPublicKey, covenant }, index) => {
    const outpoint = { transactionId, index };
    const covenantId = covenant?.covenantId;
    return { key: outpointKey(outpoint), outpoint, amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId };
  });
}

/** A set of unspent outputs, with what a node's UTXO index knows: UTXOs and balance of each script, and the sum of all. */
export class UtxoSet {
  private readonly entries = new Map<string, UtxoEntry>();
  private readonly byScript = new Map<string, Set<UtxoEntry>>();
  private sum = 0n;

  find(key: string): UtxoEntry | undefined {
    return this.entries.get(key);
  }

  add(entry: UtxoEntry): void {
    this.entries.set(entry.key, entry);
    this.sum += entry.amount;
    const script = scriptKey(entry.scriptPublicKey);
    const utxos = this.byScript.get(script);
    if (utxos === undefined) this.byScript.set(script, new Set([entry]));
    else utxos.add(entry);
  }

  remove(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) throw new Error('an output that is not unspent cannot be spent');
    this.entries.delete(key);
    this.sum -= entry.amount;
    const script = scriptKey(entry.scriptPublicKey);
    const utxos = this.byScript.get(script);
    utxos?.delete(entry);
    if (utxos?.size === 0) this.byScript.delete(script);
  }

  utxosOf(script: ScriptPublicKey): UtxoEntry[] {
    return [...(this.byScript.get(scriptKey(script)) ?? [])];
  }

  /** Sompi in all unspent outputs. */
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

/** A set of unspent outputs seen through changes that were not made to it (yet). */
export class UtxoView {
  private readonly base: UtxoSet;
  /** Entries that differ from the base; null if the base's entry is spent. */
  private changes = new Map<string, UtxoEntry | null>();

  constructor(base: UtxoSet) {
    this.base = base;
  }

  find(key: string): UtxoEntry | undefined {
    const change = this.changes.get(key);
    if (change === undefined) return this.base.find(key);
    return change ?? undefined;
  }

  apply({ added, removed }: UtxoDiff): void {
    for (const { key } of removed) this.changes.set(key, null);
    for (const entry of added) this.changes.set(entry.key, entry);
  }

  undo({ added, removed }: UtxoDiff): void {
    for (const { key } of added) this.changes.set(key, null);
    for (const entry of removed) this.changes.set(entry.key, entry);
  }

  /** Applies the changes of the view to the base. The view stays usable, without changes. */
  commit(): void {
    for (const [key, entry] of this.changes) {
      const before = this.base.find(key);
      if (before === entry) continue;
      if (before !== undefined) this.base.remove(key);
      if (entry !== null) this.base.add(entry);
    }
    this.changes = new Map();
  }
}

/** Gathers a diff over a view: looks through what it gathered so far. */
export class UtxoDiffBuilder {
  private readonly view: UtxoView;
  private readonly added = new Map<string, UtxoEntry>();
  private readonly removed = new Map<string, UtxoEntry>();

  constructor(view: UtxoView) {
    this.view = view;
  }

  find(key: string): UtxoEntry | undefined {
    const added = this.added.get(key);
    if (added !== undefined) return added;
    return this.removed.has(key) ? undefined : this.view.find(key);
  }

  add(entry: UtxoEntry): void {
    this.added.set(entry.key, entry);
  }

  spend(entry: UtxoEntry): void {
    if (!this.added.delete(entry.key)) this.removed.set(entry.key, entry);
  }

  build(): UtxoDiff {
    return { added: [...this.added.values()], removed: [...this.removed.values()] };
  }
}
