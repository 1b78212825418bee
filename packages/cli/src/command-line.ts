/**
 * Arguments and output of a command. Only the result goes to stdout, where scripts read it;
 * messages go to stderr.
 */
import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';

/** Returns a parser of an argument or option. `expected` completes "Expected …". */
export function argument<Value>(schema: z.ZodType<Value>, expected: string): (text: string) => Value {
  return (text) => {
    const { success, data } = schema.safeParse(text);
    if (!success) throw new InvalidArgumentError(`Expected ${expected}.`);
    return data;
  };
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printMessage(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Prints a table with a column for each heading: a field of the rows, or what a function returns
 * for a row.
 */
export function printTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, keyof Row | ((row: Row) => unknown)>>,
): void {
  const cells = rows.map((row) =>
    Object.values(columns).map((column) => (typeof column === 'function' ? column(row) : row[column])),
  );
  print(textTable(Object.keys(columns), cells));
}

/**
 * Returns rows as a table for a terminal: columns padded to their widest cell, numbers aligned
 * right.
 */
export function textTable(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map(cellText));
  const widths = columns.map((name, i) => Math.max(name.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const isNumeric = columns.map((_, i) => rows.length > 0 && rows.every((row) => isNumber(row[i])));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (isNumeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(columns), widths.map((width) => '-'.repeat(width)).join('  '), ...cells.map(line)].join('\n');
}

function isNumber(value: unknown): boolean {
  return value === null || typeof value === 'number' || typeof value === 'bigint';
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object')
    return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part));
  return `${value as string | number | bigint | boolean}`;
}
