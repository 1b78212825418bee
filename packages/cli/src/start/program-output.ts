// What a program prints: lines of JSON (its log) and, where it fails early, plain lines. All of it goes to the program's
// log file; warnings and errors are said to the person at the terminal; the last ones explain why the program ended.

import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const LOG_FILE_BYTES = 64 * 2 ** 20;
const SAME_WARNING_MS = 60_000;
const WARNINGS = new Set(['warn', 'error', 'fatal']);
const ERRORS = new Set(['error', 'fatal']);
const PLAIN_LINES_KEPT = 12;

interface ProgramOutputOptions {
  name: string;
  logPath: string;
  /** Says a line to the person at the terminal. */
  say: (line: string) => void;
  /** Gets every line. */
  onLine?: ((line: string) => void) | undefined;
}

export class ProgramOutput {
  readonly #options: ProgramOutputOptions;
  #file: number;
  #fileBytes: number;
  #lastError: string | undefined;
  #plainLines: string[] = [];
  readonly #saidAt = new Map<string, number>();

  constructor(options: ProgramOutputOptions) {
    this.#options = options;
    this.#file = openSync(options.logPath, 'a');
    this.#fileBytes = statSync(options.logPath).size;
  }

  /** Takes a stream of the program for as long as it lasts. */
  read(stream: Readable): void {
    stream.on('data', (chunk: Buffer) => this.#writeLog(chunk));
    stream.on('error', () => {});
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => this.#takeLine(line));
  }

  /** Forgets what an earlier run of the program said. */
  forget(): void {
    this.#lastError = undefined;
    this.#plainLines = [];
  }

  /** The last error that was logged, or else the last plain lines; empty when nothing was said. */
  lastWords(): string {
    return this.#lastError ?? this.#plainLines.join('\n');
  }

  close(): void {
    closeSync(this.#file);
    this.#file = -1;
  }

  #writeLog(chunk: Buffer): void {
    if (this.#file === -1) return;
    if (this.#fileBytes > LOG_FILE_BYTES) this.#rotate();
    this.#fileBytes += writeSync(this.#file, chunk);
  }

  #rotate(): void {
    closeSync(this.#file);
    renameSync(this.#options.logPath, `${this.#options.logPath}.1`);
    this.#file = openSync(this.#options.logPath, 'a');
    this.#fileBytes = 0;
  }

  #takeLine(line: string): void {
    this.#options.onLine?.(line);
    const entry = parseLogEntry(line);
    if (entry === undefined) {
      // The frames of a stack would push out the error above them.
      if (line.trim() !== '' && !/^\s+at /.test(line)) {
        this.#plainLines = [...this.#plainLines, line].slice(-PLAIN_LINES_KEPT);
      }
      return;
    }
    if (ERRORS.has(entry.level)) this.#lastError = entry.words;
    if (WARNINGS.has(entry.level)) this.#warn(entry.words);
  }

  #warn(words: string): void {
    const now = performance.now();
    const before = this.#saidAt.get(words);
    if (before !== undefined && now - before < SAME_WARNING_MS) return;
    if (this.#saidAt.size > 100) this.#saidAt.clear();
    this.#saidAt.set(words, now);
    this.#options.say(`${this.#options.name}: ${words}`);
  }
}

interface LogEntry {
  level: string;
  words: string;
}

/** A line of JSON; undefined for any other line. */
function parseLogEntry(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  let value: { level?: unknown; msg?: unknown; reason?: unknown; err?: { message?: unknown } };
  try {
    value = JSON.parse(line) as typeof value;
  } catch {
    return undefined;
  }
  const message = typeof value.msg === 'string' ? value.msg : '';
  const cause = [value.err?.message, value.reason].find((text) => typeof text === 'string') ?? '';
  const words = message.includes(cause) ? message : [message, cause].filter((part) => part !== '').join(': ');
  return { level: typeof value.level === 'string' ? value.level : '', words };
}
