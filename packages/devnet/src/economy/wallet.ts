/**
 * Everybody's UTXOs: which outputs could be spent next. It learns of new ones from the chain; whether one is still unspent is asked when it is
 * taken, so that reorganisations and lost double spends need no book-keeping.
 */
import type { Consensus } from '../simulation/consensus/consensus.ts';
import { createdEntries, type UtxoEntry } from './utxo.ts';
import type { DagBlock } from '../dag/dag.ts';
import type { Mempool } from '../simulation/node/mempool.ts';
import type { Key, Keyring, Owner } from './keyring.ts';
import type { Random } from './random.ts';

export interface Utxo {
  entry: UtxoEntry;
  key: Key;
  isTaken: boolean;
}

export class Wallet {
  private readonly keyring: Keyring;
  private readonly consensus: Consensus;
  private readonly mempool: Mempool;
  /** In no order. */
  private utxos: Utxo[] = [];
  private byOwner = new Map<Owner, Utxo[]>();
  /** Coinbases, in the order of their DAA scores. */
  private maturing: UtxoEntry[] = [];

  constructor(keyring: Keyring, consensus: Consensus, mempool: Mempool) {
    this.keyring = keyring;
    this.consensus = consensus;
    this.mempool = mempool;
  }

  /** Finds all UTXOs anew: at a start, and where too many were lost track of. */
  reload(): void {
    this.utxos = [];
    this.byOwner = new Map();
    this.maturing = [];
    this.keyring.restore([...this.consensus.utxos.values()].map(({ scriptPublicKey }) => scriptPublicKey));
    for (const entry of this.consensus.utxos.values()) this.put(entry);
    this.maturing.sort((a, b) => Number(a.blockDaaScore - b.blockDaaScore));
  }

  /** Takes note of what a new chain block accepts. */
  learn({ header, accepted = [] }: DagBlock): void {
    for (const { block, transaction } of accepted) {
      const isCoinbase = transaction === block.transactions[0];
      for (const entry of createdEntries(transaction, Number(header.daaScore), isCoinbase)) this.put(entry);
    }
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
      if (this.isSpendable(utxo)) return taken(utxo);
    }
    return undefined;
  }

  /** The UTXO, with up to so many others of its owner. */
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

  private put(entry: UtxoEntry): void {
    if (!this.isMature(entry)) {
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

  private addMature(): void {
    const first = this.maturing.findIndex((entry) => !this.isMature(entry));
    const mature = this.maturing.splice(0, first < 0 ? this.maturing.length : first);
    for (const entry of mature) this.put(entry);
  }

  private isMature({ isCoinbase, blockDaaScore }: UtxoEntry): boolean {
    if (!isCoinbase) return true;
    return Number(blockDaaScore) + this.consensus.params.coinbaseMaturity <= this.consensus.virtual.daaScore;
  }

  private isSpendable({ entry, isTaken }: Utxo): boolean {
    // The entry of now: another chain may have accepted it at another score.
    const unspent = this.consensus.utxos.find(entry.key);
    return !isTaken && unspent !== undefined && this.isMature(unspent) && !this.mempool.spends(entry.key);
  }
}

function taken(utxo: Utxo): Utxo {
  utxo.isTaken = true;
  return utxo;
}
