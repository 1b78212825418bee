/**
 * Locks that block readers, as `alter table`, `drop index` and `truncate` need them. A pending
 * request for such a lock waits for every transaction that has read the table, and blocks all later
 * ones, including those of the API. So the transaction gives up after a second, lets the others
 * through, is retried, and reports the sessions that block it.
 */
import { sleep } from '@kasgres/runtime';
import { type ClientBase, DatabaseError, type Pool } from 'pg';
import { IS_ANALYST } from '../logins/analysts.ts';
import { inTransaction } from './in-transaction.ts';

/**
 * How long readers may be blocked. Deadlocks are detected after a second, too (`deadlock_timeout`).
 */
const LOCK_TIMEOUT_MS = 1_000;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 10_000;
const POLL_EVERY_MS = 200;
const QUERY_LENGTH = 200;
const TERMINATE_WITHIN_MS = 10_000;

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';

/** A session that holds a lock which a transaction needs. */
export interface BlockingSession {
  /** 0 for a prepared transaction, which has no session. */
  pid: number;
  user: string;
  applicationName: string;
  isAnalyst: boolean;
  /** Seconds since its transaction began; undefined without the right to see it. */
  seconds: number | undefined;
  /** Its current or last statement, truncated; undefined without the right to see it. */
  query: string | undefined;
}

/** Whose sessions may be terminated. */
export type EndableSessions = 'none' | 'analysts' | 'all';

export interface ExclusiveLockOptions {
  /** Another connection, which finds the blocking sessions. */
  observer: Pick<Pool, 'query'>;
  /**
   * Called after each failed attempt with the blocking sessions, and those that were terminated.
   */
  onBlocked?: ((blocking: readonly BlockingSession[], ended: readonly BlockingSession[]) => void) | undefined;
  /** Which blocking sessions to terminate. */
  endSessions?: EndableSessions | undefined;
  /** How long to retry. No limit by default. */
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The lock was not acquired in time. */
export class LockedOutError extends Error {
  override readonly name = 'LockedOutError';
  readonly blocking: readonly BlockingSession[];

  constructor(waitMs: number, blocking: readonly BlockingSession[], cause: unknown) {
    super(
      `A table could not be locked within ${Math.round(waitMs / 1000)} s, because of ${describeBlocking(blocking)}`,
      { cause },
    );
    this.blocking = blocking;
  }
}

/**
 * Runs a transaction that takes exclusive locks, and retries it until it gets them.
 * @param work runs from its beginning in each attempt
 * @throws {LockedOutError} after `waitMs`
 */
export async function withExclusiveLocks<Result>(
  client: ClientBase,
  work: () => Promise<Result>,
  { observer, onBlocked, endSessions = 'none', waitMs = Number.POSITIVE_INFINITY, signal }: ExclusiveLockOptions,
): Promise<Result> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = rows[0]?.pid ?? 0;
  const startedAt = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const watch = watchBlocking(observer, pid);
    try {
      return await inTransaction(client, async () => {
        await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
        return await work();
      });
    } catch (error) {
      if (!isLockedOut(error)) throw error;
      const blocking = await watch.stop();
      const ended = await endAll(observer, blocking, endSessions);
      onBlocked?.(blocking, ended);
      if (performance.now() - startedAt > waitMs) throw new LockedOutError(waitMs, blocking, error);
      await sleep(ended.length > 0 ? 0 : pauseMs, signal);
    } finally {
      await watch.stop();
    }
  }
}

function isLockedOut(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === LOCK_NOT_AVAILABLE || error.code === DEADLOCK);
}

export function describeBlocking(blocking: readonly BlockingSession[]): string {
  if (blocking.length === 0) return 'a session that has ended meanwhile';
  return blocking
    .map(({ pid, user, applicationName, isAnalyst, seconds, query }) => {
      if (pid === 0) return 'a prepared transaction (see pg_prepared_xacts)';
      const who = [user, applicationName, isAnalyst ? 'analyst' : ''].filter(Boolean).join(', ');
      const since = seconds === undefined ? '' : `, its transaction open for ${Math.round(seconds)} s`;
      return `session ${pid} (${who})${since}${query === undefined ? '' : `: ${query}`}`;
    })
    .join('; ');
}

/** Polls for the sessions that block another one, until it is stopped. */
function watchBlocking(
  observer: Pick<Pool, 'query'>,
  pid: number,
): { stop: () => Promise<readonly BlockingSession[]> } {
  const stopping = new AbortController();
  // The last sessions that were found blocked the failed attempt.
  let latest: readonly BlockingSession[] = [];
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(POLL_EVERY_MS, stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) return;
      // A failed poll only means that the blocking session is not named.
      const blocking = await listBlocking(observer, pid).catch(() => []);
      if (blocking.length > 0) latest = blocking;
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await watching;
      return latest;
    },
  };
}

async function listBlocking(observer: Pick<Pool, 'query'>, pid: number): Promise<BlockingSession[]> {
  const { rows } = await observer.query<{
    pid: number;
    user: string | null;
    application_name: string | null;
    is_analyst: boolean;
    seconds: number | null;
    query: string | null;
  }>(
    `select b.pid, s.usename as user, s.application_name,
            coalesce(r.oid is not null and ${IS_ANALYST}, false) as is_analyst,
            extract(epoch from clock_timestamp() - s.xact_start)::float8 as seconds, case
              when pg_has_role(s.usesysid, 'usage') or pg_has_role('pg_read_all_stats', 'usage')
                 then left(regexp_replace(s.query, '\\s+', ' ', 'g'), ${QUERY_LENGTH}) end as query
       from unnest(pg_blocking_pids($1)) b (pid)
       left join pg_stat_activity s using (pid)
       left join pg_roles r on r.oid = s.usesysid
      where b.pid = 0 or s.pid is not null`,
    [pid],
  );
  return rows.map(
    ({ pid: blocker, user, application_name: applicationName, is_analyst: isAnalyst, seconds, query }) => ({
      pid: blocker,
      user: user ?? 'a background process',
      applicationName: applicationName ?? '',
      isAnalyst,
      seconds: seconds ?? undefined,
      query: query ?? undefined,
    }),
  );
}

/** @returns the terminated sessions */
async function endAll(
  observer: Pick<Pool, 'query'>,
  blocking: readonly BlockingSession[],
  endSessions: EndableSessions,
): Promise<BlockingSession[]> {
  const ended: BlockingSession[] = [];
  for (const session of blocking) {
    if (session.pid === 0 || endSessions === 'none' || (endSessions === 'analysts' && !session.isAnalyst)) continue;
    // A session of another user has reused the process id.
    const { rows } = await observer
      .query<{ ended: boolean }>(
        `select pg_terminate_backend(pid, ${TERMINATE_WITHIN_MS}) as ended from pg_stat_activity
          where pid = $1 and usename = $2`,
        [session.pid, session.user],
      )
      // Without the right to terminate it, it keeps blocking.
      .catch(() => ({ rows: [] }));
    if (rows[0]?.ended === true) ended.push(session);
  }
  return ended;
}
