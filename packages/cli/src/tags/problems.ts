/** Collects all problems of tag files with their positions, so that a file can be corrected in one go. */
/** Further problems are only counted. */
const MAX_LISTED = 100;

export interface Position {
  file: string;
  line: number;
}

export class Problems {
  readonly lines: string[] = [];
  count = 0;

  /** @param what a predicate that says what is wrong and what is expected, such as `must be a text` */
  add({ file, line }: Position, field: string, what: string): void {
    this.count += 1;
    if (this.lines.length < MAX_LISTED) this.lines.push(`${file}:${line}: ${field}: ${what}`);
  }

  /** Whether further problems are only counted, so that their positions are not needed. */
  get isFull(): boolean {
    return this.lines.length >= MAX_LISTED;
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

/** Formats a value for a problem. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
