/**
 * A tag file of any format as it is read, and all its problems with their lines, so that it can be
 * corrected in one go.
 */
import type { RawTag } from './check-tag.ts';
import { quoted } from './quoted.ts';

/** Further problems are only counted. */
const MAX_LISTED = 100;

export interface RawFile {
  /** Source of the tags that do not name one; empty for the name of the file. */
  source: string;
  title: string;
  creator: string;
  tags: readonly RawTag[];
  /** Number of tags of transactions, which are skipped. */
  transactionTags: number;
  /** Returns the line of a field of the file. */
  lineOf: (field: FileField) => number;
}

export type FileField = 'source' | 'title' | 'creator';

export class Problems {
  readonly lines: string[] = [];
  count = 0;
  /** The file that is being read. */
  file = '';

  /**
   * @param line computed only if the problem is listed
   * @param problem a predicate that says what is wrong and what is expected, such as `must be a
   * text`
   */
  add(line: number | (() => number), field: string, problem: string): void {
    this.count += 1;
    if (this.lines.length >= MAX_LISTED) return;
    this.lines.push(`${this.file}:${typeof line === 'number' ? line : line()}: ${field}: ${problem}`);
  }

  report(): string {
    const more = this.count - this.lines.length;
    const problems = this.count === 1 ? '1 problem' : `${this.count.toLocaleString('en')} problems`;
    return [
      ...this.lines,
      ...(more > 0 ? [`… and ${more.toLocaleString('en')} more`] : []),
      `${problems}. Nothing was written.`,
    ].join('\n');
  }
}

export function splitLabels(text: string): string[] {
  return text.split(/[;|]/);
}

export type Path = readonly (string | number)[];

export class Tree {
  readonly #problems: Problems;
  /** Returns the line of the first of these paths that exists. */
  readonly lineAt: (path: Path, ...others: Path[]) => number;

  constructor(problems: Problems, lineAt: (path: Path, ...others: Path[]) => number) {
    this.#problems = problems;
    this.lineAt = lineAt;
  }

  report(path: Path, field: string, problem: string): void {
    this.#problems.add(() => this.lineAt(path), field, problem);
  }

  reportUnknownFields(object: object, path: Path, known: readonly string[], kind: string): void {
    for (const key of Object.keys(object)) {
      if (known.includes(key)) continue;
      this.report([...path, key], quoted(key), `is not a field of ${kind}; the fields are ${known.join(', ')}`);
    }
  }

  /** Returns the trimmed text of a field of the file; empty if it is missing or not a text. */
  textOf(file: Record<string, unknown>, field: FileField, path: Path = [field]): string {
    const value = file[field] ?? '';
    if (typeof value === 'string') return value.trim();
    this.report(path, field, `must be a text, not ${quoted(value)}`);
    return '';
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
