/**
 * JSON logs by pino: the message a past-tense sentence, the numbers beside it. Secrets never reach a log: known fields are
 * redacted here, and an address with a password goes through `redactUrl` before it is logged.
 */
import { type DestinationStream, pino } from 'pino';
import pretty from 'pino-pretty';

export type Logger = pino.Logger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** The program or part that speaks. */
  name: string;
  level?: LogLevel;
  /** Where the lines go; standard output by default. */
  destination?: DestinationStream;
}

const SECRET_FIELDS = ['password', 'apiKey', 'DATABASE_URL', 'DATABASE_READ_URL', 'databaseUrl', 'connectionString'];
const SECRET_HEADERS = ['x-api-key', 'authorization', 'cookie'];

/** Lines of JSON, 64-bit integers as decimal strings; people's own lines where standard output is a terminal. */
export function createLogger({ name, level = 'info', destination }: LoggerOptions): Logger {
  // Not pino's own writer: it writes a line again and again, without an end, to a reader that is gone.
  const stream = destination ?? (process.stdout.isTTY ? pretty({ destination: process.stdout }) : process.stdout);
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

/** The address without the password in it, for logs and messages; what is no URL is not repeated. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '[not a URL]';
  const parsed = new URL(url);
  if (parsed.password !== '') parsed.password = '***';
  return parsed.toString();
}

/** JSON knows no bigint, and the numbers beside a message are often amounts or scores. */
function bigintsToStrings(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.values(fields).some((value) => typeof value === 'bigint')) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value]),
  );
}
