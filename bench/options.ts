/** Options, medians and tables of the benchmarks. */
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';

/** An option has the type of its default. Those of type boolean are flags. */
type Defaults = Readonly<Record<string, number | string | boolean>>;

/** `json`: whether to print JSON instead of tables. */
type Options<Given> = { json: boolean; positionals: readonly string[] } & {
  [Name in keyof Given]: Given[Name] extends number ? number : Given[Name] extends string ? string : boolean;
};

/** Reads the options of the command. Prints the reason and exits if they are wrong. */
export function readOptions<Given extends Defaults>(defaults: Given): Options<Given> {
  try {
    return parseOptions(process.argv.slice(2), defaults);
  } catch (error) {
    return exit(error instanceof Error ? error.message : String(error));
  }
}

/** Ends the command because of wrong options. */
export function exit(reason: string): never {
  console.error(reason);
  return process.exit(1);
}

/**
 * @throws Error for an unknown option, and for a value that is no number of at least 0, or no whole
 * number of at least 1 for `--runs`
 */
export function parseOptions<Given extends Defaults>(args: readonly string[], given: Given): Options<Given> {
  const defaults: Defaults = { json: false, ...given };
  const types = Object.entries(defaults).map(([name, value]) => {
    const type: 'boolean' | 'string' = typeof value === 'boolean' ? 'boolean' : 'string';
    return [name, { type }] as const;
  });
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: Object.fromEntries(types),
  });
  const options = Object.entries(defaults).map(([name, value]) => {
    const found = values[name] ?? value;
    return [name, typeof value === 'number' ? parseNumber(name, found) : found] as const;
  });
  return Object.fromEntries([...options, ['positionals', positionals]]) as Options<Given>;
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

/** Returns the seconds since a value of `performance.now()`. */
export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000;
}

export function markdownTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const [first, ...others] = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [first, `|${'---|'.repeat(head.length)}`, ...others].join('\n');
}

/** The figures of a run by their names in JSON: the name in a table, and the digits there. */
export type Figures = Readonly<Record<string, readonly [name: string, digits: number]>>;

/** A figure is undefined if it cannot be measured here. */
export type RunOf<All extends Figures> = Record<keyof All, number | undefined>;

/** Prints the runs and their medians: as JSON, or as a table below machine and conditions. */
export function printRuns<All extends Figures>(
  json: boolean,
  conditions: Readonly<Record<string, string | number | boolean>>,
  runs: readonly RunOf<All>[],
  figures: All,
): void {
  const machine = describeMachine();
  if (json) {
    console.log(JSON.stringify({ machine, ...conditions, medians: mediansOf(runs), runs }, null, 2));
    return;
  }
  const described = Object.entries(conditions).map(([name, value]) => `${name}: ${value}`);
  console.log(`${[machine, ...described].join('; ')}\n\n${tableOfRuns(runs, figures)}`);
}

/**
 * Returns a table with a row for each figure and a column for each run, and their median in the
 * last column.
 */
export function tableOfRuns<All extends Figures>(runs: readonly RunOf<All>[], figures: All): string {
  const rows = Object.entries(figures).map(([figure, [name, digits]]) => {
    const values = runs.map((run) => run[figure as keyof All]).filter((value) => value !== undefined);
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
