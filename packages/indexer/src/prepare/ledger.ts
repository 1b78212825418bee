/**
 * What accepted transactions do to the coins: which rows of `utxos` are spent, which new ones are left, and the change of
 * every balance. A coin that is made and spent inside one batch never becomes a row.
 */
import type { Coin } from './resolve.ts';

/** Room for the output index in a number that names a coin: an index is far below this, a key below 2 ** 33. */
const MAX_OUTPUTS = 2 ** 20;

export interface NewCoin {
  transaction: number;
  index: number;
  script: number;
  amount: bigint;
  blockDaaScore: bigint;
  isCoinbase: boolean;
}

export class Ledger {
  readonly spent: { transaction: number; index: number }[] = [];
  readonly balanceChanges = new Map<number, bigint>();
  readonly #made = new Map<number, NewCoin>();

  get made(): Iterable<NewCoin> {
    return this.#made.values();
  }

  make(coin: NewCoin): void {
    this.#made.set(coin.transaction * MAX_OUTPUTS + coin.index, coin);
    this.#change(coin.script, coin.amount);
  }

  spend(transaction: number, index: number, coin: Coin): void {
    if (!this.#made.delete(transaction * MAX_OUTPUTS + index)) this.spent.push({ transaction, index });
    this.#change(coin.script, -coin.amount);
  }

  #change(script: number, amount: bigint): void {
    this.balanceChanges.set(script, (this.balanceChanges.get(script) ?? 0n) + amount);
  }
}
