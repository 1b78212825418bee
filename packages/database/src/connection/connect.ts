/**
 * One pool of connections, and Kysely on top of it for reads. How values come back is set for this pool alone, so that no
 * other user of `pg` in the process is surprised: 64-bit integers as bigint, numeric as its decimal text, dates as text.
 */
import { Kysely, PostgresDialect } from 'kysely';
import { Pool, type PoolClient, type PoolConfig, types } from 'pg';
import { PoolExhaustedError } from './errors.ts';
import type { DB } from '../generated/database.ts';
import { cutAfterSilence, cutWhenLost, noteSession } from './lost-connections.ts';

export type Database = DB;

export interface ConnectOptions {
  /** `postgres://user:password@host:port/database` */
  url: string;
  /** Most connections open at once. */
  max?: number;
  /** What `pg_stat_activity` shows. */
  applicationName: string;
  /** The server cancels a statement that takes longer. No limit by default. */
  statementTimeoutMs?: number;
  /**
   * A query fails when no answer has come after so long. The server's own limit does not reach us over a connection that
   * died without a word; give this one some seconds more.
   */
  queryTimeoutMs?: number;
  /**
   * For statements that may take long: after so long a silence the server is asked over another connection whether it works on
   * the statement; if not, the query fails. Not together with `queryTimeoutMs`.
   */
  askAfterSilenceMs?: number;
  /** How long a query waits for a connection before it fails. */
  connectTimeoutMs?: number;
  /** How many may wait for a connection; who would wait behind them fails at once. No limit by default. */
  maxWaiting?: number;
  /** Settings of Postgres for these sessions, `{ work_mem: '64MB' }`. */
  settings?: Readonly<Record<string, string>>;
  /** Hears of idle connections that broke. The pool replaces them by itself, so this is for logs only. */
  onIdleError?: (error: Error) => void;
}

export interface Connection {
  pool: Pool;
  kysely: Kysely<Database>;
  /** Waits for the queries that run, then closes every connection. */
  close: () => Promise<void>;
}

/** The system's own would be two hours. A host that is gone is noticed ten seconds later. */
const KEEP_ALIVE_MS = 10_000;

/** The same at the server's end: a session whose client is gone without a word is not to take up room there for hours. */
const SERVER_KEEP_ALIVE = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
} as const;

/** Does not open a connection yet: the first query does, and fails if it cannot. */
export function connect(options: ConnectOptions): Connection {
  const pool = new BoundedPool(options.maxWaiting, {
    connectionString: options.url,
    max: options.max ?? 10,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: { getTypeParser },
    // Our queries are short, and compiling one takes Postgres longer than running it.
    options: encodeSettings({ jit: 'off', ...SERVER_KEEP_ALIVE, ...options.settings }),
    ...(options.statementTimeoutMs === undefined ? {} : { statement_timeout: options.statementTimeoutMs }),
    ...(options.askAfterSilenceMs === undefined ? {} : { verify: noteSession }),
  });
  // Without a listener a connection that breaks would end the process: an idle one tells the pool, one in use only itself.
  pool.on('error', (error) => options.onIdleError?.(error));
  pool.on('connect', (client) => client.on('error', () => {}));
  if (options.queryTimeoutMs !== undefined) cutAfterSilence(pool, options.queryTimeoutMs);
  if (options.askAfterSilenceMs !== undefined) cutWhenLost(pool, options.url, options.askAfterSilenceMs);
  const kysely = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  const close = async (): Promise<void> => {
    await kysely.destroy();
    // Kysely ends a pool only if it has used it itself.
    if (!pool.ending) await pool.end();
  };
  return { pool, kysely, close };
}

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** Its line of those that wait does not grow without end. */
class BoundedPool extends Pool {
  readonly #maxWaiting: number;

  constructor(maxWaiting: number | undefined, config: PoolConfig) {
    super(config);
    this.#maxWaiting = maxWaiting ?? Number.POSITIVE_INFINITY;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | void {
    const isFull = this.waitingCount >= this.#maxWaiting;
    if (callback === undefined) return isFull ? Promise.reject(new PoolExhaustedError()) : super.connect();
    if (isFull) callback(new PoolExhaustedError(), undefined, () => {});
    else super.connect(callback);
  }
}

/** As the server splits its start-up `options`: at blanks, unless a backslash stands before them. */
function encodeSettings(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, (character) => `\\${character}`)}`)
    .join(' ');
}

type TextParser = (text: string) => unknown;
type TypeId = Parameters<typeof types.getTypeParser>[0];

/** Types of `pg_type`, by their fixed ids. */
const PARSERS = new Map<number, TextParser>([
  [20, BigInt], // int8
  [1016, parseBigintArray], // int8[]
  [1082, String], // date: a day has no time zone, a JavaScript Date does
]);

function getTypeParser(oid: TypeId, format: 'text' | 'binary' = 'text'): TextParser {
  const parser = format === 'text' ? PARSERS.get(oid) : undefined;
  return parser ?? (types.getTypeParser(oid, format) as TextParser);
}

/** `{1,2,3}`: our columns hold no nulls and one dimension. */
function parseBigintArray(text: string): bigint[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt);
}
