/**
 * The output of a program: its log as lines of JSON, and plain lines when it fails early.
 * Everything goes to the log file of the program, warnings and errors also to the terminal. The
 * last error explains why the program exited.
 */
import { closeSync, fchmodSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { z } from 'zod';

const LOG_FILE_BYTES = 64 * 2 ** 20;
const SAME_WARNING_MS = 60_000;
const WARNINGS = new Set(['warn', 'error', 'fatal']);
const ERRORS = new Set(['error', 'fatal']);
const PLAIN_LINES_KEPT = 12;

interface ProgramOutputOptions {
  name: string;
  logPath: string;
  print: (line: string) => void;
  onLine?: ((line: string) => void) | undefined;
}

/** A log has addresses of clients and what they asked for, so only its owner may read it. */
function openLog(path: string): number {
  const file = openSync(path, 'a', 0o600);
  // The file may be that of an earlier version.
  fchmodSync(file, 0o600);
  return file;
}

export class ProgramOutput {
  readonly #options: ProgramOutputOptions;
  #file: number;
  #fileBytes: number;
  #lastError: string | undefined;
  #plainLines: string[] = [];
  readonly #printedAt = new Map<string, number>();

  constructor(options: ProgramOutputOptions) {
    this.#options = options;
    this.#file = openLog(options.logPath);
    this.#fileBytes = fstatSync(this.#file).size;
  }

  read(stream: Readable): void {
    stream.on('data', (chunk: Buffer) => this.#writeLog(chunk));
    stream.on('error', () => {});
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => this.#readLine(line));
  }

  reset(): void {
    this.#lastError = undefined;
    this.#plainLines = [];
  }

  /** Returns the last logged error, or else the last plain lines. */
  lastError(): string {
    return this.#lastError ?? this.#plainLines.join('\n');
  }

  close(): void {
    closeSync(this.#file);
    this.#file = -1;
  }

  #writeLog(chunk: Buffer): void {
    if (this.#file === -1) return;
    if (this.#fileBytes > LOG_FILE_BYTES) {
      closeSync(this.#file);
      renameSync(this.#options.logPath, `${this.#options.logPath}.1`);
      this.#file = openLog(this.#options.logPath);
      this.#fileBytes = 0;
    }
    this.#fileBytes += writeSync(this.#file, chunk);
  }

  #readLine(line: string): void {
    this.#options.onLine?.(line);
    const entry = parseLogEntry(line);
    if (entry === undefined) {
      // Stack frames would push out the error message above them.
      if (line.trim() !== '' && !/^\s+at /.test(line)) {
        this.#plainLines = [...this.#plainLines, line].slice(-PLAIN_LINES_KEPT);
      }
      return;
    }
    if (ERRORS.has(entry.level)) this.#lastError = entry.message;
    if (WARNINGS.has(entry.level)) this.#warn(entry.message);
  }

  #warn(message: string): void {
    const now = performance.now();
    const before = this.#printedAt.get(message);
    if (before !== undefined && now - before < SAME_WARNING_MS) return;
    if (this.#printedAt.size > 100) this.#printedAt.clear();
    this.#printedAt.set(message, now);
    this.#options.print(`${this.#options.name}: ${message}`);
  }
}

const logEntry = z.object({
  level: z.string().catch(''),
  msg: z.string().catch(''),
  reason: z.string().optional().catch(undefined),
  err: z.object({ message: z.string() }).optional().catch(undefined),
});

function parseLogEntry(line: string): { level: string; message: string } | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, msg, reason, err } = logEntry.parse(JSON.parse(line));
    const cause = err?.message ?? reason ?? '';
    return { level, message: msg.includes(cause) ? msg : [msg, cause].filter(Boolean).join(': ') };
  } catch {
    return undefined;
  }
}
