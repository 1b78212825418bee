/**
 * JSON logs by pino. Known fields with secrets are redacted. Addresses of databases, which may have
 * a password, are never logged.
 */
import { type DestinationStream, pino } from 'pino';
import pretty from 'pino-pretty';

export type Logger = pino.Logger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** The program or component that logs. */
  name: string;
  level?: LogLevel;
  /** Default: standard output. */
  destination?: DestinationStream;
}

const SECRET_FIELDS = ['password', 'apiKey', 'DATABASE_URL', 'DATABASE_READ_URL', 'databaseUrl', 'connectionString'];
const SECRET_HEADERS = ['x-api-key', 'authorization', 'cookie'];

/**
 * Creates a logger of JSON lines, with 64-bit integers as decimal strings; pretty-printed if
 * standard output is a terminal.
 */
export function createLogger({ name, level = 'info', destination }: LoggerOptions): Logger {
  // Not pino's own writer, which retries endlessly when the reader of standard output has exited.
  const stream = destination ?? (process.stdout.isTTY ? pretty({ destination: process.stdout }) : standardOutput);
  const options = {
    name,
    level,
    base: { name },
    redact: {
      paths: [
        ...SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
        ...SECRET_HEADERS.flatMap((header) => [`headers["${header}"]`, `*.headers["${header}"]`]),
      ],
      censor: '[redacted]',
    },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: bigintsToStrings,
    },
  };
  return pino(options, stream);
}

const WARN = 40;

/**
 * Writes the lines of one turn of the event loop together, since each write takes longer than
 * making a line; warnings and errors at once.
 */
const standardOutput = {
  /** Makes pino set `lastLevel` before each line. */
  [pino.symbols.needsMetadataGsym]: true as const,
  lastLevel: 0,
  lines: '',
  write(line: string): void {
    if (this.lines === '') {
      if (!process.listeners('exit').includes(writeLines)) process.on('exit', writeLines);
      setImmediate(writeLines);
    }
    this.lines += line;
    if (this.lastLevel >= WARN) writeLines();
  },
};

function writeLines(): void {
  const { lines } = standardOutput;
  standardOutput.lines = '';
  if (lines !== '') process.stdout.write(lines);
}

/** JSON has no bigint, and logged numbers are often amounts or scores. */
function bigintsToStrings(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.values(fields).some((value) => typeof value === 'bigint')) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value]),
  );
}
