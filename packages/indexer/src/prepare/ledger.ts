/**
 * What accepted transactions do to the UTXOs: which rows of `utxos` are spent, which new ones are left, and what the scripts get and
 * lose. A UTXO that is made and spent inside one batch never becomes a row.
 */
import type { BalanceChanges } from './balance-changes.ts';
import type { Utxo } from './resolve.ts';

/** Room for the output index in a number that names a UTXO: an index is far below this, a key below 2 ** 33. */
const MAX_OUTPUTS = 2 ** 20;

export interface NewUtxo {
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
  readonly #made = new Map<number, NewUtxo>();

  constructor(balanceChanges: BalanceChanges) {
    this.#balanceChanges = balanceChanges;
  }

  get made(): Iterable<NewUtxo> {
    return this.#made.values();
  }

  /** @param hour of the accepting block */
  make(utxo: NewUtxo, hour: number): void {
    this.#made.set(utxo.transaction * MAX_OUTPUTS + utxo.index, utxo);
    this.#balanceChanges.addUtxos(utxo.script, hour, utxo.amount, 1);
  }

  /** @param hour of the accepting block */
  spend(transaction: number, index: number, utxo: Utxo, hour: number): void {
    if (!this.#made.delete(transaction * MAX_OUTPUTS + index)) this.spent.push({ transaction, index });
    this.#balanceChanges.addUtxos(utxo.script, hour, -utxo.amount, -1);
  }
}
