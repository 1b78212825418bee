/** Compares cells as Postgres writes them with cells as an oracle computes them. */
import { expect } from 'vitest';

/** As psql prints it. */
export type Text = string | null;

export type Cell = string | number | bigint | Date | typeof ANYTHING | null;

/** Matches values that depend on the time of the query. */
export const ANYTHING = Symbol('anything');

/** Expects the rows of an oracle in order. */
export function expectResponse(response: readonly Text[][], expected: readonly (readonly Cell[])[]): void {
  const rows = response.map((row, line) => row.map((text, column) => asExpected(text, expected[line]?.[column])));
  expect(rows).toEqual(expected.map((row) => [...row]));
}

/** Returns the expected cell if the text equals it up to its last decimal, otherwise the text, so that a failure shows the difference. */
function asExpected(text: Text, cell: Cell | undefined): Cell {
  if (cell === ANYTHING) return cell;
  if (text === null || cell === null || cell === undefined) return text;
  if (cell instanceof Date) return Date.parse(text) === cell.getTime() ? cell : text;
  if (typeof cell === 'bigint') return text === String(cell) ? cell : text;
  if (typeof cell === 'number') return Math.abs(Number(text) - cell) <= tolerance(text, cell) ? cell : text;
  return text;
}

/** Half of the last decimal plus the error of a double. */
function tolerance(text: string, cell: number): number {
  const decimals = text.split('.')[1]?.length ?? 0;
  return 0.500001 * 10 ** -decimals + 1e-12 * Math.abs(cell);
}
