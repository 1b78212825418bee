/**
 * The unspent coins of a generated chain, in columns: millions of them in some hundred megabytes. Each is in the list of its wallet, from
 * which the one that came last is taken first.
 */
import { type Hash, HASH_BYTES } from '@kasgres/kaspa';

const NONE = -1;
const INITIAL_COINS = 1 << 16;
const INITIAL_WALLETS = 1 << 10;

export interface NewCoin {
  transactionId: Hash;
  index: number;
  /** Sompi: all that is ever minted here is exact in a double. */
  amount: number;
  address: number;
  wallet: number;
}

export class Coins {
  #ids = new Uint8Array(INITIAL_COINS * HASH_BYTES);
  #indexes = new Uint8Array(INITIAL_COINS);
  #amounts = new Float64Array(INITIAL_COINS);
  #addresses = new Uint32Array(INITIAL_COINS);
  #wallets = new Uint32Array(INITIAL_COINS);
  /** Within the wallet; of a free place, the next free one. */
  #next = new Int32Array(INITIAL_COINS);
  #previous = new Int32Array(INITIAL_COINS);
  #firstFree = NONE;
  #places = 0;
  #firstOfWallet = new Int32Array(INITIAL_WALLETS).fill(NONE);
  #countOfWallet = new Int32Array(INITIAL_WALLETS);

  add({ transactionId, index, amount, address, wallet }: NewCoin): number {
    const coin = this.#takePlace();
    if (wallet >= this.#countOfWallet.length) this.#growWallets(wallet);
    this.#ids.set(transactionId, coin * HASH_BYTES);
    this.#indexes[coin] = index;
    this.#amounts[coin] = amount;
    this.#addresses[coin] = address;
    this.#wallets[coin] = wallet;
    const first = this.#firstOfWallet[wallet] as number;
    this.#next[coin] = first;
    this.#previous[coin] = NONE;
    if (first !== NONE) this.#previous[first] = coin;
    this.#firstOfWallet[wallet] = coin;
    this.#countOfWallet[wallet] = this.countOf(wallet) + 1;
    return coin;
  }

  /** Forgets a spent coin. What it was must have been read before. */
  remove(coin: number): void {
    const wallet = this.walletOf(coin);
    const next = this.#next[coin] as number;
    const previous = this.#previous[coin] as number;
    if (previous === NONE) this.#firstOfWallet[wallet] = next;
    else this.#next[previous] = next;
    if (next !== NONE) this.#previous[next] = previous;
    this.#countOfWallet[wallet] = this.countOf(wallet) - 1;
    this.#next[coin] = this.#firstFree;
    this.#firstFree = coin;
  }

  transactionIdOf(coin: number): Hash {
    return this.#ids.slice(coin * HASH_BYTES, (coin + 1) * HASH_BYTES);
  }

  indexOf(coin: number): number {
    return this.#indexes[coin] as number;
  }

  amountOf(coin: number): number {
    return this.#amounts[coin] as number;
  }

  addressOf(coin: number): number {
    return this.#addresses[coin] as number;
  }

  walletOf(coin: number): number {
    return this.#wallets[coin] as number;
  }

  countOf(wallet: number): number {
    return this.#countOfWallet[wallet] ?? 0;
  }

  /** Up to so many coins of a wallet, the latest first. */
  listOf(wallet: number, most: number): number[] {
    const coins: number[] = [];
    let coin = this.#firstOfWallet[wallet] ?? NONE;
    for (; coin !== NONE && coins.length < most; coin = this.#next[coin] as number) coins.push(coin);
    return coins;
  }

  #takePlace(): number {
    if (this.#firstFree !== NONE) {
      const coin = this.#firstFree;
      this.#firstFree = this.#next[coin] as number;
      return coin;
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
