/**
 * What happens to the rows of `balances` and `balance_changes`: sums by script, and by script and hour. Whatever adds to a row
 * adds to these first, so that each row is written once, and what a reorg undoes and the new chain does again is not written.
 */
import type { Move } from '../rollups/chain-block-totals.ts';

const HOUR_MS = 3_600_000n;

export interface BalanceChange {
  script: number;
  /** Sompi. */
  balance: bigint;
  utxoCount: number;
  transactionCount: number;
  acceptedCount: number;
  receivingCount: number;
  sendingCount: number;
  coinbaseCount: number;
  /** Sompi. */
  received: bigint;
  /** Sompi. */
  sent: bigint;
}

export interface HourlyChange {
  script: number;
  hour: number;
  /** Sompi. */
  change: bigint;
}

/**
 * Returns the hour that balance_changes counts by.
 * @param chainTime of the accepting block, Unix milliseconds: its own timestamp may run backwards, and a balance would be negative in between
 */
export function hourOf(chainTime: bigint): number {
  return Number(chainTime / HOUR_MS);
}

export class BalanceChanges {
  readonly #scripts = new Map<number, BalanceChange>();
  readonly #hours = new Map<number, Map<number, bigint>>();

  /** UTXOs that a script gets (positive) or loses (negative). @param amount of all of them, sompi */
  addUtxos(script: number, hour: number, amount: bigint, count: number): void {
    const change = this.#of(script);
    change.balance += amount;
    change.utxoCount += count;
    const hourly = this.#hourly(hour);
    hourly.set(script, (hourly.get(script) ?? 0n) + amount);
  }

  /** A row that address_transactions gets. */
  addTransaction(script: number): void {
    this.#of(script).transactionCount += 1;
  }

  /** What the chain accepts (1), or accepts no more (-1). @param moves of the transaction, by script */
  addAccepted({ isCoinbase, moves }: { isCoinbase: boolean; moves: ReadonlyMap<number, Move> }, sign: 1 | -1): void {
    for (const [script, { sent, received }] of moves) {
      const change = this.#of(script);
      change.acceptedCount += sign;
      if (received > 0n) change.receivingCount += sign;
      if (sent > 0n) change.sendingCount += sign;
      if (isCoinbase && received > 0n) change.coinbaseCount += sign;
      change.received += BigInt(sign) * received;
      change.sent += BigInt(sign) * sent;
    }
  }

  addAll(others: BalanceChanges): void {
    for (const other of others.#scripts.values()) {
      const change = this.#of(other.script);
      change.balance += other.balance;
      change.utxoCount += other.utxoCount;
      change.transactionCount += other.transactionCount;
      change.acceptedCount += other.acceptedCount;
      change.receivingCount += other.receivingCount;
      change.sendingCount += other.sendingCount;
      change.coinbaseCount += other.coinbaseCount;
      change.received += other.received;
      change.sent += other.sent;
    }
    for (const { script, hour, change } of others.hourly()) {
      const hourly = this.#hourly(hour);
      hourly.set(script, (hourly.get(script) ?? 0n) + change);
    }
  }

  /** Of each script that may have changed, in the order of their keys. */
  scripts(): BalanceChange[] {
    return [...this.#scripts.values()].sort((one, other) => one.script - other.script);
  }

  /** Of each script and hour with a change, in the order of the scripts. */
  hourly(): HourlyChange[] {
    return [...this.#hours]
      .flatMap(([hour, changes]) => [...changes].map(([script, change]) => ({ script, hour, change })))
      .filter(({ change }) => change !== 0n)
      .sort((one, other) => one.script - other.script || one.hour - other.hour);
  }

  /** The change of the circulating supply, sompi. */
  get supply(): bigint {
    let sum = 0n;
    for (const { balance } of this.#scripts.values()) sum += balance;
    return sum;
  }

  #of(script: number): BalanceChange {
    let change = this.#scripts.get(script);
    if (change === undefined) {
      change = {
        script,
        balance: 0n,
        utxoCount: 0,
        transactionCount: 0,
        acceptedCount: 0,
        receivingCount: 0,
        sendingCount: 0,
        coinbaseCount: 0,
        received: 0n,
        sent: 0n,
      };
      this.#scripts.set(script, change);
    }
    return change;
  }

  #hourly(hour: number): Map<number, bigint> {
    let hourly = this.#hours.get(hour);
    if (hourly === undefined) {
      hourly = new Map();
      this.#hours.set(hour, hourly);
    }
    return hourly;
  }
}
