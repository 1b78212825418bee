/** What is wrong with files of tags, each problem with its place: all of them, so that a file is put right in one go. */
/** Places of more than this are counted only. */
const MOST_LISTED = 100;

export interface Place {
  file: string;
  line: number;
}

export class Problems {
  readonly lines: string[] = [];
  count = 0;

  /** @param what what is wrong with the field, and what is expected */
  add({ file, line }: Place, field: string, what: string): void {
    this.count += 1;
    if (this.lines.length < MOST_LISTED) this.lines.push(`${file}:${line}: ${field}: ${what}`);
  }

  /** Whether one more would be counted only: then its place need not be looked for. */
  get isFull(): boolean {
    return this.lines.length >= MOST_LISTED;
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

/** A value as it is shown in a problem. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
