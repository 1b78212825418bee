/** A cell of a response as Postgres writes it, and as an oracle computes it. */
import { expect } from 'vitest';

/** What psql would print; null for nothing. */
export type Text = string | null;

export type Cell = string | number | bigint | Date | typeof ANYTHING | null;

/** For what depends on when one asks. */
export const ANYTHING = Symbol('anything');

/** Holds a response to what an oracle says, row by row and in order. */
export function expectResponse(response: readonly Text[][], expected: readonly (readonly Cell[])[]): void {
  const rows = response.map((row, line) => row.map((text, column) => asExpected(text, expected[line]?.[column])));
  expect(rows).toEqual(expected.map((row) => [...row]));
}

/** The expected cell where the text says the same, up to its last decimal; otherwise the text, so that the difference is seen. */
function asExpected(text: Text, cell: Cell | undefined): Cell {
  if (cell === ANYTHING) return cell;
  if (text === null || cell === null || cell === undefined) return text;
  if (cell instanceof Date) return Date.parse(text) === cell.getTime() ? cell : text;
  if (typeof cell === 'bigint') return text === String(cell) ? cell : text;
  if (typeof cell === 'number') return Math.abs(Number(text) - cell) <= tolerance(text, cell) ? cell : text;
  return text;
}

/** Half of the last decimal, and what a double cannot hold. */
function tolerance(text: string, cell: number): number {
  const decimals = text.split('.')[1]?.length ?? 0;
  return 0.500001 * 10 ** -decimals + 1e-12 * Math.abs(cell);
}
