/** Prints a line every few seconds while an export runs, and one for each finished view. */
import { DAY_MS, dayOfTime, startOfDay } from './chain.ts';

const PRINT_EVERY_MS = 5_000;

export class ExportProgress {
  readonly #print: (line: string) => void;
  readonly #now: () => number;
  #name = '';
  #target: number | undefined;
  #rows = 0;
  #bytes = 0;
  #startedAt = 0;
  #printedAt = 0;

  constructor(print: (line: string) => void, now: () => number = () => performance.now()) {
    this.#print = print;
    this.#now = now;
  }

  say(line: string): void {
    this.#print(line);
  }

  /** @param target time of the last chain block, Unix milliseconds */
  begin(name: string, target?: number): void {
    this.#name = name;
    this.#target = target;
    this.#rows = 0;
    this.#bytes = 0;
    this.#startedAt = this.#now();
    this.#printedAt = this.#startedAt;
  }

  /** @param day undefined for states */
  add(rows: number, day?: string): void {
    this.#rows += rows;
    if (this.#now() - this.#printedAt < PRINT_EVERY_MS) return;
    this.#printedAt = this.#now();
    this.#print([this.#name, ...this.#daysLeft(day), ...this.#counts()].join(', '));
  }

  wrote(bytes: number): void {
    this.#bytes += bytes;
  }

  end(): void {
    if (this.#rows === 0) this.#print(`${this.#name}: nothing new`);
    else this.#print(`${this.#name}: ${this.#counts().join(', ')}, ${(this.#bytes / 1e6).toFixed(1)} MB`);
  }

  #counts(): string[] {
    const seconds = Math.max((this.#now() - this.#startedAt) / 1000, 0.001);
    return [`${numeral(this.#rows)} rows`, `${numeral(Math.round(this.#rows / seconds))} rows/s`];
  }

  #daysLeft(day: string | undefined): string[] {
    if (day === undefined || this.#target === undefined) return [];
    const left = (startOfDay(dayOfTime(this.#target)) - startOfDay(day)) / DAY_MS;
    return [day, left === 0 ? 'the last day' : `${left} ${left === 1 ? 'day' : 'days'} left`];
  }
}

function numeral(value: number): string {
  return value.toLocaleString('en-US');
}
