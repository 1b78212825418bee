/** The rows of `previous_balance_changes` of a chain since genesis: 16 bytes each, and sorted at the end. */
import type { CopyRowOf, PREVIOUS_BALANCE_CHANGES, ScriptKey } from '@kasgres/database';
import { copyColumns } from './columns.ts';

const INITIAL_ROWS = 2 ** 16;

export type BalanceChange = CopyRowOf<typeof PREVIOUS_BALANCE_CHANGES>;

const createColumns = (rows: number) => ({
  scripts: new Uint32Array(rows),
  /** Unix hours. */
  hours: new Int32Array(rows),
  /** In sompi. */
  changes: new BigInt64Array(rows),
});

export class HourTotals {
  #columns = createColumns(INITIAL_ROWS);
  #count = 0;

  /** Must be called in the order of hours for each script. @param change in sompi */
  add(script: ScriptKey, hour: number, change: bigint): void {
    if (this.#count === this.#columns.scripts.length) {
      this.#columns = copyColumns(this.#columns, createColumns(2 * this.#count));
    }
    const { scripts, hours, changes } = this.#columns;
    scripts[this.#count] = script;
    hours[this.#count] = hour;
    changes[this.#count] = change;
    this.#count += 1;
  }

  /**
   * Returns the rows in the order of the primary key, so that its index grows at one end, instead of at a random page for each row.
   * @param scripts above all script keys
   */
  *rows(scripts: number): Generator<BalanceChange> {
    const { scripts: scriptOf, hours, changes } = this.#columns;
    for (const row of this.#order(scripts)) {
      yield { script_id: scriptOf[row] as number, hour: hours[row] as number, change: changes[row] as bigint };
    }
  }

  /** Returns the positions of rows by script; those of one script stay in their order (counting sort). */
  #order(scripts: number): Uint32Array {
    const added = this.#columns.scripts.subarray(0, this.#count);
    /** First the number of rows of each script, then the position of the next one. */
    const next = new Uint32Array(scripts);
    for (const script of added) (next[script] as number) += 1;
    let position = 0;
    for (const [script, rows] of next.entries()) {
      next[script] = position;
      position += rows;
    }
    const order = new Uint32Array(this.#count);
    for (const [row, script] of added.entries()) {
      const at = next[script] as number;
      order[at] = row;
      next[script] = at + 1;
    }
    return order;
  }
}
