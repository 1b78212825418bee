import { getOrInsert, type TransactionDeltas } from '../state-changes.ts';

const emptyDelta = (script: number) => ({
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
});

type BalanceDelta = ReturnType<typeof emptyDelta>;

/**
 * Returns whether what is summed up for a script stays as it is. A new row is never zero, since a
 * transaction makes it.
 */
export function isZero({ script: _script, ...numbers }: BalanceDelta): boolean {
  return Object.values(numbers).every((number) => !number);
}

export class BalanceDeltas {
  readonly #scripts = new Map<number, BalanceDelta>();

  /** @param sign 1 for an accepted transaction, −1 for one of a removed chain block */
  add({ isCoinbase, deltas }: Pick<TransactionDeltas, 'isCoinbase' | 'deltas'>, sign: 1 | -1): void {
    const factor = BigInt(sign);
    for (const [script, { sent, received, utxoCount }] of deltas) {
      const delta = this.#of(script);
      delta.balance += factor * (received - sent);
      delta.utxoCount += sign * utxoCount;
      delta.acceptedCount += sign;
      if (received > 0n) delta.receivingCount += sign;
      if (sent > 0n) delta.sendingCount += sign;
      if (isCoinbase && received > 0n) delta.coinbaseCount += sign;
      delta.received += factor * received;
      delta.sent += factor * sent;
    }
  }

  addTouched(scripts: readonly number[]): void {
    for (const script of scripts) this.#of(script).transactionCount += 1;
  }

  keys(): Iterable<number> {
    return this.#scripts.keys();
  }

  rows(): BalanceDelta[] {
    return [...this.#scripts.values()].sort((one, other) => one.script - other.script);
  }

  /** Delta of the circulating supply, sompi. */
  get supply(): bigint {
    let sum = 0n;
    for (const { balance } of this.#scripts.values()) sum += balance;
    return sum;
  }

  #of(script: number): BalanceDelta {
    return getOrInsert(this.#scripts, script, emptyDelta);
  }
}
