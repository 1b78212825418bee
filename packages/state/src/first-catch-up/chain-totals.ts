/**
 * Derived state of a first catch-up from genesis, summed up while the chain passes by: at its end, writing it takes a fraction of the time that
 * computing it from all rows would. It needs all scripts in memory and no reorg. Otherwise the `rebuild` of each kind makes the same rows.
 */
import type { ScriptKey } from '@kasgres/database';
import type { Sompi } from '@kasgres/kaspa';
import type { ChainBlock } from '../state-changes.ts';
import { hourOf } from '../balances/hourly-changes/hourly-deltas.ts';
import { copyColumns } from './columns.ts';
import { type BalanceChange, HourTotals } from './hour-totals.ts';
import { IntervalTotals, type IntervalTotal } from './interval-totals.ts';

const INITIAL_SCRIPTS = 2 ** 14;
/** An amount is less than 2^62 sompi, so the next one cannot overflow a sum of up to this. */
const MAX_SUM = 2n ** 62n;
/** Roles of a script in the current transaction. */
const SENDS = 1;
const RECEIVES = 2;

/** Columns by script key. Amounts are in sompi, times Unix milliseconds, 0 for never. */
const createColumns = (scripts: number) => ({
  received: new BigInt64Array(scripts),
  sent: new BigInt64Array(scripts),
  /** The change of the balance within `hour`. */
  hourlyChange: new BigInt64Array(scripts),
  firstSeen: new Float64Array(scripts),
  lastSeen: new Float64Array(scripts),
  /** Unix hours. */
  hour: new Int32Array(scripts),
  utxoCount: new Int32Array(scripts),
  acceptedCount: new Uint32Array(scripts),
  receivingCount: new Uint32Array(scripts),
  sendingCount: new Uint32Array(scripts),
  coinbaseCount: new Uint32Array(scripts),
  /** Serial number of the last transaction that touched it, and its roles in that one. */
  transaction: new Uint32Array(scripts),
  roles: new Uint8Array(scripts),
});

/** Amounts are in sompi, times Unix milliseconds. */
export interface ScriptTotal {
  script: ScriptKey;
  received: bigint;
  sent: bigint;
  firstSeen: number;
  lastSeen: number;
  /** The change of the balance within `lastChangeHour`, a Unix hour. */
  lastChange: bigint;
  lastChangeHour: number;
  utxoCount: number;
  acceptedCount: number;
  receivingCount: number;
  sendingCount: number;
  coinbaseCount: number;
}

/** Call `beginBlock`, and for each accepted transaction `beginTransaction`, then `spend` and `create`, in the order of the chain. */
export class ChainTotals {
  /** False after a sum has overflowed. */
  isExact = true;
  #columns = createColumns(INITIAL_SCRIPTS);
  #capacity = INITIAL_SCRIPTS;
  readonly #hours = new HourTotals();
  readonly #intervals = new IntervalTotals();
  #time = 0;
  #hour = 0;
  #serial = 0;
  #isCoinbase = false;

  beginBlock(block: Pick<ChainBlock, 'chainTime' | 'blocks' | 'redBlocks' | 'work'>): void {
    this.#intervals.beginBlock(block);
    this.#time = Number(block.chainTime);
    this.#hour = hourOf(block.chainTime);
  }

  beginTransaction(isCoinbase: boolean): void {
    this.#serial += 1;
    this.#isCoinbase = isCoinbase;
    if (!isCoinbase) this.#intervals.countTransaction();
  }

  spend(script: ScriptKey, amount: Sompi): void {
    this.#touch(script);
    const columns = this.#columns;
    const sent = (columns.sent[script] as bigint) + amount;
    columns.sent[script] = sent;
    (columns.hourlyChange[script] as bigint) -= amount;
    (columns.utxoCount[script] as number) -= 1;
    if (sent > MAX_SUM) this.isExact = false;
    this.#intervals.spend(amount, this.#isCoinbase);
    if (amount === 0n || ((columns.roles[script] as number) & SENDS) !== 0) return;
    (columns.roles[script] as number) |= SENDS;
    (columns.sendingCount[script] as number) += 1;
  }

  create(script: ScriptKey, amount: Sompi): void {
    this.#touch(script);
    const columns = this.#columns;
    const received = (columns.received[script] as bigint) + amount;
    columns.received[script] = received;
    (columns.hourlyChange[script] as bigint) += amount;
    (columns.utxoCount[script] as number) += 1;
    if (received > MAX_SUM) this.isExact = false;
    this.#intervals.create(amount, this.#isCoinbase);
    if (amount === 0n || ((columns.roles[script] as number) & RECEIVES) !== 0) return;
    (columns.roles[script] as number) |= RECEIVES;
    (columns.receivingCount[script] as number) += 1;
    if (this.#isCoinbase) (columns.coinbaseCount[script] as number) += 1;
  }

  /** Returns the scripts that accepted transactions touch, by key. */
  *scripts(): Generator<ScriptTotal> {
    const columns = this.#columns;
    for (let script = 0; script < this.#capacity; script += 1) {
      if (columns.firstSeen[script] === 0) continue;
      yield {
        script,
        received: columns.received[script] as bigint,
        sent: columns.sent[script] as bigint,
        firstSeen: columns.firstSeen[script] as number,
        lastSeen: columns.lastSeen[script] as number,
        lastChange: columns.hourlyChange[script] as bigint,
        lastChangeHour: columns.hour[script] as number,
        utxoCount: columns.utxoCount[script] as number,
        acceptedCount: columns.acceptedCount[script] as number,
        receivingCount: columns.receivingCount[script] as number,
        sendingCount: columns.sendingCount[script] as number,
        coinbaseCount: columns.coinbaseCount[script] as number,
      };
    }
  }

  /** Returns the rows of `previous_balance_changes`, in the order of the primary key. */
  earlierHours(): Iterable<BalanceChange> {
    return this.#hours.rows(this.#capacity);
  }

  intervals(): readonly IntervalTotal[] {
    return this.#intervals.rows();
  }

  #touch(script: ScriptKey): void {
    if (script >= this.#capacity) this.#grow(script);
    const columns = this.#columns;
    if (columns.transaction[script] === this.#serial) return;
    columns.transaction[script] = this.#serial;
    columns.roles[script] = 0;
    (columns.acceptedCount[script] as number) += 1;
    const lastSeen = columns.lastSeen[script] as number;
    if (lastSeen !== this.#time) this.#intervals.see(lastSeen);
    if (lastSeen === 0) columns.firstSeen[script] = this.#time;
    columns.lastSeen[script] = this.#time;
    if (columns.hour[script] === this.#hour) return;
    this.#endHour(script);
    columns.hour[script] = this.#hour;
  }

  #endHour(script: ScriptKey): void {
    const { hour, hourlyChange } = this.#columns;
    const change = hourlyChange[script] as bigint;
    if (change === 0n) return;
    this.#hours.add(script, hour[script] as number, change);
    hourlyChange[script] = 0n;
  }

  #grow(script: ScriptKey): void {
    while (this.#capacity <= script) this.#capacity *= 2;
    this.#columns = copyColumns(this.#columns, createColumns(this.#capacity));
  }
}
