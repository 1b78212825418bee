/**
 * A pool of connections, with Kysely for reads. Type parsers are set for this pool only, not for
 * all users of `pg` in the process: 64-bit integers are bigint, numeric is decimal text, dates are
 * text.
 */
import { Kysely, PostgresDialect } from 'kysely';
import { Pool, type PoolClient, type PoolConfig, types } from 'pg';
import { clientConfig, liftTransactionTimeout, SERVER_KEEP_ALIVE } from './client-config.ts';
import { PoolExhaustedError } from './errors.ts';
import type { DB } from '../generated/database.ts';
import { cutAfterSilence, cutWhenLost, noteSession } from './lost-connections.ts';

export type Database = DB;

/** For `askAfterSilenceMs`. */
export const ASK_AFTER_SILENCE_MS = 10_000;

export interface ConnectOptions {
  /** `postgres://user:password@host:port/database` */
  url: string;
  /** Maximum number of open connections. */
  max?: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** The server cancels a statement that takes longer. No limit by default. */
  statementTimeoutMs?: number;
  /**
   * Client-side timeout for a connection that no longer responds. Set it some seconds above
   * `statementTimeoutMs`, whose error cannot arrive over such a connection.
   */
  queryTimeoutMs?: number;
  /**
   * For statements that may take long: after this silence the server is asked over another
   * connection whether it still works on the statement; if not, the query fails. Do not combine
   * with `queryTimeoutMs`.
   */
  askAfterSilenceMs?: number;
  /**
   * Queries are sent without waiting for the response to the one before. Copying from the server
   * and cursors are not possible then.
   */
  pipeline?: boolean;
  /** How long a query waits for a connection. 0 for no limit. */
  connectTimeoutMs?: number;
  /**
   * Maximum number of queries that wait for a connection: further ones fail at once. No limit by
   * default.
   */
  maxWaiting?: number;
  /** Settings of Postgres for these sessions, `{ work_mem: '64MB' }`. */
  settings?: Readonly<Record<string, string>>;
  /** Called for idle connections that broke. The pool replaces them, so this is for logs only. */
  onIdleError?: (error: Error) => void;
}

export interface Connection {
  pool: Pool;
  kysely: Kysely<Database>;
  /** Waits for running queries, then closes all connections. */
  close: () => Promise<void>;
}

/** Opens no connection. The first query does, and fails if it cannot. */
export function connect(options: ConnectOptions): Connection {
  const pool = new BoundedPool(options.maxWaiting, {
    ...clientConfig(options.url, { ...SERVER_KEEP_ALIVE, ...options.settings }),
    max: options.max ?? 10,
    application_name: options.applicationName,
    ...(options.connectTimeoutMs === undefined ? {} : { connectionTimeoutMillis: options.connectTimeoutMs }),
    pipeline: options.pipeline ?? false,
    types: { getTypeParser },
    onConnect: liftTransactionTimeout(options.connectTimeoutMs || undefined),
    ...(options.statementTimeoutMs === undefined ? {} : { statement_timeout: options.statementTimeoutMs }),
    ...(options.askAfterSilenceMs === undefined ? {} : { verify: noteSession }),
  });
  // Without listeners a broken connection would crash the process. An idle one emits on the pool,
  // one in use on the client.
  pool.on('error', (error) => options.onIdleError?.(error));
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('release', (_error, client) => closeWithinTransaction(client));
  if (options.queryTimeoutMs !== undefined) cutAfterSilence(pool, options.queryTimeoutMs);
  if (options.askAfterSilenceMs !== undefined) cutWhenLost(pool, options.url, options.askAfterSilenceMs);
  const kysely = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  const close = async (): Promise<void> => {
    await kysely.destroy();
    // Kysely ends a pool only if it has used it.
    if (!pool.ending) await pool.end();
  };
  return { pool, kysely, close };
}

/**
 * Closes a connection that is returned within a transaction: the next query on it would be part of
 * that transaction, or fail because it is aborted.
 */
function closeWithinTransaction(client: PoolClient): void {
  const status = client.getTransactionStatus();
  if (status === 'T' || status === 'E') void client.end();
}

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A pg Pool with a bounded wait queue. */
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

type TextParser = (text: string) => unknown;
type TypeId = Parameters<typeof types.getTypeParser>[0];

/** By the fixed ids of `pg_type`. */
const PARSERS = new Map<number, TextParser>([
  [20, BigInt], // int8
  [1016, parseBigintArray], // int8[]
  [1082, String], // date: a day has no time zone, a JavaScript Date does
]);

/** For queries with binary results. JSON stays bytes, to be passed on without parsing. */
const BINARY_PARSERS = new Map<number, (bytes: Buffer) => unknown>([
  [20, (bytes) => bytes.readBigInt64BE()],
  [114, (bytes) => bytes],
]);

function getTypeParser(oid: TypeId, format: 'text' | 'binary' = 'text'): TextParser {
  const parser = format === 'text' ? PARSERS.get(oid) : BINARY_PARSERS.get(oid);
  return (parser ?? types.getTypeParser(oid, format)) as TextParser;
}

/** Parses `{1,2,3}`. The columns of the schema contain no nulls and one dimension. */
function parseBigintArray(text: string): bigint[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt);
}
