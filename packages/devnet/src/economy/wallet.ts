import { createdEntries, type UtxoEntry } from './utxo.ts';
import type { DagTransaction } from '../dag/dag.ts';
import type { Key, Keyring, Owner } from './keyring.ts';
import type { Random } from './random.ts';

export interface Ledger {
  isMature(entry: UtxoEntry): boolean;
  /** Whether the output is unspent, mature, and not spent by a pending transaction. */
  isSpendable(entry: UtxoEntry): boolean;
}

export interface Utxo {
  entry: UtxoEntry;
  key: Key;
}

/** An item of both lists. It stays on one, empty, after it was taken from the other. */
interface Slot {
  utxo: Utxo | undefined;
}

const COMPACTED_FROM = 1_024;

/**
 * The UTXOs of all owners. The ledger says whether one is unspent when it is taken, so that
 * reorganisations need no bookkeeping.
 */
export class Wallet {
  private readonly keyring: Pick<Keyring, 'find'>;
  private readonly ledger: Ledger;
  /** Unordered. */
  private slots: Slot[] = [];
  private byOwner = new Map<Owner, Slot[]>();
  /** Coinbase outputs, in the order of their DAA scores. */
  private maturing: UtxoEntry[] = [];

  constructor(keyring: Pick<Keyring, 'find'>, ledger: Ledger) {
    this.keyring = keyring;
    this.ledger = ledger;
  }

  /** The number of mature UTXOs, and of spent ones that are not yet removed. */
  get size(): number {
    return this.slots.length;
  }

  reload(entries: Iterable<UtxoEntry>): void {
    this.slots = [];
    this.byOwner = new Map();
    this.maturing = [];
    for (const entry of entries) this.put(entry);
    this.maturing.sort((a, b) => Number(a.blockDaaScore - b.blockDaaScore));
  }

  /** Adds the outputs of an accepted transaction. */
  learn(transaction: Pick<DagTransaction, 'transactionId' | 'outputs'>, daaScore: number, isCoinbase: boolean): void {
    for (const entry of createdEntries(transaction, daaScore, isCoinbase)) this.put(entry);
  }

  /** Takes a random UTXO that can be spent now. */
  take(random: Random): Utxo | undefined {
    this.addMature();
    while (this.slots.length > 0) {
      const index = random.below(this.slots.length);
      const slot = this.slots[index];
      const last = this.slots.pop();
      if (slot === undefined || last === undefined) return undefined;
      if (index < this.slots.length) this.slots[index] = last;
      const utxo = this.takeFrom(slot);
      if (utxo === undefined) continue;
      this.forgetEmptySlots(utxo.key.owner);
      return utxo;
    }
    return undefined;
  }

  /** Returns the UTXO with up to that number of others of its owner. */
  takeMore(first: Utxo, others: number): Utxo[] {
    const found = new Map([[first.entry.key, first]]);
    const slots = this.byOwner.get(first.key.owner) ?? [];
    while (found.size <= others) {
      const slot = slots.pop();
      if (slot === undefined) break;
      // After a reorganisation a UTXO may be on the list twice.
      const utxo = this.takeFrom(slot);
      if (utxo !== undefined) found.set(utxo.entry.key, utxo);
    }
    return [...found.values()];
  }

  /** Takes the youngest immature coinbase output that is wanted. */
  takeImmature(isWanted: (entry: UtxoEntry) => boolean): UtxoEntry | undefined {
    const index = this.maturing.findLastIndex(isWanted);
    return index < 0 ? undefined : this.maturing.splice(index, 1)[0];
  }

  put(entry: UtxoEntry): void {
    if (!this.ledger.isMature(entry)) {
      this.maturing.push(entry);
      return;
    }
    const key = this.keyring.find(entry.scriptPublicKey);
    if (key === undefined) return;
    const slot = { utxo: { entry, key } };
    this.slots.push(slot);
    const siblings = this.byOwner.get(key.owner);
    if (siblings === undefined) this.byOwner.set(key.owner, [slot]);
    else siblings.push(slot);
  }

  private takeFrom(slot: Slot): Utxo | undefined {
    const { utxo } = slot;
    if (utxo === undefined || !this.ledger.isSpendable(utxo.entry)) return undefined;
    slot.utxo = undefined;
    return utxo;
  }

  /** Keeps the lists of owners from growing with the length of a chain. */
  private forgetEmptySlots(owner: Owner): void {
    const slots = this.byOwner.get(owner) ?? [];
    while (slots.length > 0 && slots.at(-1)?.utxo === undefined) slots.pop();
    if (slots.length === 0) this.byOwner.delete(owner);
    else if (slots.length >= COMPACTED_FROM && (slots.length & (slots.length - 1)) === 0) {
      const full = slots.filter(({ utxo }) => utxo !== undefined);
      this.byOwner.set(owner, full);
    }
  }

  private addMature(): void {
    const first = this.maturing.findIndex((entry) => !this.ledger.isMature(entry));
    const mature = this.maturing.splice(0, first < 0 ? this.maturing.length : first);
    for (const entry of mature) this.put(entry);
  }
}
