/**
 * What accepted transactions do to the coins: which rows of `utxos` are spent, which new ones are left, and what the scripts get and
 * lose. A coin that is made and spent inside one batch never becomes a row.
 */
import type { BalanceChanges } from './balance-changes.ts';
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
  readonly #balanceChanges: BalanceChanges;
  readonly #made = new Map<number, NewCoin>();

  constructor(balanceChanges: BalanceChanges) {
    this.#balanceChanges = balanceChanges;
  }

  get made(): Iterable<NewCoin> {
    return this.#made.values();
  }

  /** @param hour of the accepting block */
  make(coin: NewCoin, hour: number): void {
    this.#made.set(coin.transaction * MAX_OUTPUTS + coin.index, coin);
    this.#balanceChanges.addCoins(coin.script, hour, coin.amount, 1);
  }

  /** @param hour of the accepting block */
  spend(transaction: number, index: number, coin: Coin, hour: number): void {
    if (!this.#made.delete(transaction * MAX_OUTPUTS + index)) this.spent.push({ transaction, index });
    this.#balanceChanges.addCoins(coin.script, hour, -coin.amount, -1);
  }
}
