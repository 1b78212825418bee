/** Options, medians and tables of the benchmarks. */
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';

export interface Options<NumberName extends string, TextName extends string> {
  /** Whether to print JSON instead of tables. */
  json: boolean;
  numbers: Readonly<Record<NumberName, number>>;
  texts: Readonly<Partial<Record<TextName, string>>>;
  positionals: readonly string[];
}

/** Reads the options of the command. Prints the reason and exits if they are wrong. */
export function readOptions<NumberName extends string, TextName extends string = never>(
  defaults: Readonly<Record<NumberName, number>>,
  texts: readonly TextName[] = [],
): Options<NumberName, TextName> {
  try {
    return parseOptions(process.argv.slice(2), defaults, texts);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return process.exit(1);
  }
}

/**
 * @throws Error for an unknown option, and for a value that is no number of at least 0, or no whole
 * number of at least 1 for `--runs`
 */
export function parseOptions<NumberName extends string, TextName extends string = never>(
  args: readonly string[],
  defaults: Readonly<Record<NumberName, number>>,
  texts: readonly TextName[] = [],
): Options<NumberName, TextName> {
  const names = Object.keys(defaults) as NumberName[];
  const withValue = Object.fromEntries([...names, ...texts].map((name) => [name, { type: 'string' as const }]));
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...withValue, json: { type: 'boolean' } },
  });
  const given: Readonly<Record<string, unknown>> = values;
  return {
    json: values.json === true,
    numbers: recordOf(names, (name) => parseNumber(name, given[name] ?? defaults[name])),
    texts: recordOf(
      texts.filter((name) => given[name] !== undefined),
      (name) => String(given[name]),
    ),
    positionals,
  };
}

function recordOf<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}

function parseNumber(name: string, text: unknown): number {
  const value = text === '' ? Number.NaN : Number(text);
  const isValid = name === 'runs' ? Number.isInteger(value) && value >= 1 : Number.isFinite(value) && value >= 0;
  if (!isValid) throw new Error(`--${name} must be a ${name === 'runs' ? 'whole ' : ''}number, not ${String(text)}`);
  return value;
}

/** Returns NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[(sorted.length >> 1) - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Returns the smallest value that is at least as large as this share of all; NaN without values.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

export function markdownTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const [first, ...others] = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [first, `|${'---|'.repeat(head.length)}`, ...others].join('\n');
}

/** A figure of each run. */
export interface Figure<Run> {
  name: string;
  /** Undefined if it cannot be measured here. */
  of: (run: Run) => number | undefined;
  digits: number;
}

/**
 * Returns a table with a row for each figure and a column for each run, and their median in the
 * last column.
 */
export function tableOfRuns<Run>(runs: readonly Run[], figures: readonly Figure<Run>[]): string {
  const rows = figures.map(({ name, of, digits }) => {
    const values = runs.map(of).filter((value) => value !== undefined);
    const shown = (value: number): string =>
      value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const cells = values.length === runs.length ? [...values, median(values)].map(shown) : [...runs.map(() => ''), ''];
    return [name, ...cells];
  });
  return markdownTable(['', ...runs.map((_, index) => `run ${index + 1}`), 'median'], rows);
}

/** Returns the median of each property that is a number in all runs. */
export function mediansOf<Run extends object>(runs: readonly Run[]): Partial<Record<keyof Run, number>> {
  const [first] = runs;
  const names = first === undefined ? [] : (Object.keys(first) as (keyof Run)[]);
  const medians: Partial<Record<keyof Run, number>> = {};
  for (const name of names) {
    const values = runs.map((run) => run[name]).filter((value) => typeof value === 'number');
    if (values.length === runs.length) medians[name] = median(values);
  }
  return medians;
}

export function describeMachine(): string {
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} x ${cpus()[0]?.model}, ${gib} GiB, load average ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`;
}
