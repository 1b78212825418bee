/**
 * Everybody's UTXOs: which outputs could be spent next. Whether one is still unspent is asked when it is taken, so that reorganisations and
 * lost double spends need no book-keeping. The ledger behind it is a simulated node, a real one, or a chain that is only generated.
 */
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
  isTaken: boolean;
}

const COMPACTED_FROM = 1_024;

export class Wallet {
  private readonly keyring: Pick<Keyring, 'find'>;
  private readonly ledger: Ledger;
  /** Unordered. */
  private utxos: Utxo[] = [];
  private byOwner = new Map<Owner, Utxo[]>();
  /** Coinbase outputs, in the order of their DAA scores. */
  private maturing: UtxoEntry[] = [];

  constructor(keyring: Pick<Keyring, 'find'>, ledger: Ledger) {
    this.keyring = keyring;
    this.ledger = ledger;
  }

  /** Starts again from a set of unspent outputs. */
  reload(entries: Iterable<UtxoEntry>): void {
    this.utxos = [];
    this.byOwner = new Map();
    this.maturing = [];
    for (const entry of entries) this.put(entry);
    this.maturing.sort((a, b) => Number(a.blockDaaScore - b.blockDaaScore));
  }

  /** Adds the outputs of an accepted transaction. */
  learn(transaction: Pick<DagTransaction, 'transactionId' | 'outputs'>, daaScore: number, isCoinbase: boolean): void {
    for (const entry of createdEntries(transaction, daaScore, isCoinbase)) this.put(entry);
  }

  /** A UTXO that can be spent now, taken out of the wallet. */
  take(random: Random): Utxo | undefined {
    this.addMature();
    while (this.utxos.length > 0) {
      const index = random.below(this.utxos.length);
      const utxo = this.utxos[index];
      const last = this.utxos.pop();
      if (utxo === undefined || last === undefined) return undefined;
      if (index < this.utxos.length) this.utxos[index] = last;
      if (!this.isSpendable(utxo)) continue;
      this.forgetTaken(taken(utxo).key.owner);
      return utxo;
    }
    return undefined;
  }

  /** Returns the UTXO with up to that number of others of its owner. */
  takeMore(first: Utxo, others: number): Utxo[] {
    const found = new Map([[first.entry.key, first]]);
    const utxos = this.byOwner.get(first.key.owner) ?? [];
    while (found.size <= others) {
      const utxo = utxos.pop();
      if (utxo === undefined) break;
      // After a reorganisation a UTXO may be on the list twice.
      if (this.isSpendable(utxo)) found.set(utxo.entry.key, taken(utxo));
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
    const utxo = { entry, key, isTaken: false };
    this.utxos.push(utxo);
    const siblings = this.byOwner.get(key.owner);
    if (siblings === undefined) this.byOwner.set(key.owner, [utxo]);
    else siblings.push(utxo);
  }

  /** Keeps the lists of owners from growing with the length of a chain. */
  private forgetTaken(owner: Owner): void {
    const utxos = this.byOwner.get(owner) ?? [];
    while (utxos.at(-1)?.isTaken === true) utxos.pop();
    if (utxos.length === 0) this.byOwner.delete(owner);
    else if (utxos.length >= COMPACTED_FROM && (utxos.length & (utxos.length - 1)) === 0) {
      this.byOwner.set(
        owner,
        utxos.filter(({ isTaken }) => !isTaken),
      );
    }
  }

  private addMature(): void {
    const first = this.maturing.findIndex((entry) => !this.ledger.isMature(entry));
    const mature = this.maturing.splice(0, first < 0 ? this.maturing.length : first);
    for (const entry of mature) this.put(entry);
  }

  private isSpendable({ entry, isTaken }: Utxo): boolean {
    return !isTaken && this.ledger.isSpendable(entry);
  }
}

function taken(utxo: Utxo): Utxo {
  utxo.isTaken = true;
  return utxo;
}
