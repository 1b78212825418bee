/**
 * The unspent UTXOs of a generated chain, in columns: millions of them in some hundred megabytes. Each is in the list of its wallet, from
 * which the one that came last is taken first.
 */
import { type Hash, HASH_BYTES } from '@kasgres/kaspa';

const NONE = -1;
const INITIAL_UTXOS = 1 << 16;
const INITIAL_WALLETS = 1 << 10;

export interface NewUtxo {
  transactionId: Hash;
  index: number;
  /** Sompi: all that is ever minted here is exact in a double. */
  amount: number;
  address: number;
  wallet: number;
}

export class Utxos {
  #ids = new Uint8Array(INITIAL_UTXOS * HASH_BYTES);
  #indexes = new Uint8Array(INITIAL_UTXOS);
  #amounts = new Float64Array(INITIAL_UTXOS);
  #addresses = new Uint32Array(INITIAL_UTXOS);
  #wallets = new Uint32Array(INITIAL_UTXOS);
  /** Within the wallet; of a free place, the next free one. */
  #next = new Int32Array(INITIAL_UTXOS);
  #previous = new Int32Array(INITIAL_UTXOS);
  #firstFree = NONE;
  #places = 0;
  #firstOfWallet = new Int32Array(INITIAL_WALLETS).fill(NONE);
  #countOfWallet = new Int32Array(INITIAL_WALLETS);

  add({ transactionId, index, amount, address, wallet }: NewUtxo): number {
    const utxo = this.#takePlace();
    if (wallet >= this.#countOfWallet.length) this.#growWallets(wallet);
    this.#ids.set(transactionId, utxo * HASH_BYTES);
    this.#indexes[utxo] = index;
    this.#amounts[utxo] = amount;
    this.#addresses[utxo] = address;
    this.#wallets[utxo] = wallet;
    const first = this.#firstOfWallet[wallet] as number;
    this.#next[utxo] = first;
    this.#previous[utxo] = NONE;
    if (first !== NONE) this.#previous[first] = utxo;
    this.#firstOfWallet[wallet] = utxo;
    this.#countOfWallet[wallet] = this.countOf(wallet) + 1;
    return utxo;
  }

  /** Forgets a spent coin. What it was must have been read before. */
  remove(utxo: number): void {
    const wallet = this.walletOf(utxo);
    const next = this.#next[utxo] as number;
    const previous = this.#previous[utxo] as number;
    if (previous === NONE) this.#firstOfWallet[wallet] = next;
    else this.#next[previous] = next;
    if (next !== NONE) this.#previous[next] = previous;
    this.#countOfWallet[wallet] = this.countOf(wallet) - 1;
    this.#next[utxo] = this.#firstFree;
    this.#firstFree = utxo;
  }

  transactionIdOf(utxo: number): Hash {
    return this.#ids.slice(utxo * HASH_BYTES, (utxo + 1) * HASH_BYTES);
  }

  indexOf(utxo: number): number {
    return this.#indexes[utxo] as number;
  }

  amountOf(utxo: number): number {
    return this.#amounts[utxo] as number;
  }

  addressOf(utxo: number): number {
    return this.#addresses[utxo] as number;
  }

  walletOf(utxo: number): number {
    return this.#wallets[utxo] as number;
  }

  countOf(wallet: number): number {
    return this.#countOfWallet[wallet] ?? 0;
  }

  /** Up to so many UTXOs of a wallet, the latest first. */
  listOf(wallet: number, most: number): number[] {
    const utxos: number[] = [];
    let utxo = this.#firstOfWallet[wallet] ?? NONE;
    for (; utxo !== NONE && utxos.length < most; utxo = this.#next[utxo] as number) utxos.push(utxo);
    return utxos;
  }

  #takePlace(): number {
    if (this.#firstFree !== NONE) {
      const utxo = this.#firstFree;
      this.#firstFree = this.#next[utxo] as number;
      return utxo;
    }
    if (this.#places === this.#amounts.length) this.#grow();
    return this.#places++;
  }

  #grow(): void {
    const length = this.#amounts.length * 2;
    this.#ids = longer(this.#ids, new Uint8Array(length * HASH_BYTES));
    this.#indexes = longer(this.#indexes, new Uint8Array(length));
    this.#amounts = longer(this.#amounts, new Float64Array(length));
    this.#addresses = longer(this.#addresses, new Uint32Array(length));
    this.#wallets = longer(this.#wallets, new Uint32Array(length));
    this.#next = longer(this.#next, new Int32Array(length));
    this.#previous = longer(this.#previous, new Int32Array(length));
  }

  #growWallets(wallet: number): void {
    const length = Math.max(wallet + 1, this.#countOfWallet.length * 2);
    this.#firstOfWallet = longer(this.#firstOfWallet, new Int32Array(length).fill(NONE));
    this.#countOfWallet = longer(this.#countOfWallet, new Int32Array(length));
  }
}

function longer<Column extends { set: (from: Column) => void }>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
