/**
 * Keeps the queue of notifications from filling up. It is shared by all databases of the server,
 * and nothing is removed from it that a session that listens has not read: one that stays in a
 * transaction, or does not read its connection, holds it.
 */
import { type Connection, IS_ANALYST } from '@kasgres/database';
import { type Logger, sleep } from '@kasgres/runtime';
import type { Metrics } from './metrics.ts';

const PAUSE_MS = 5_000;
/** Part of the queue, which is 8 GB by default. Usually it is empty. */
const LIMIT = 0.05;
const WARN_EVERY_MS = 60_000;

interface Dependencies {
  database: Pick<Connection, 'pool'>;
  log: Logger;
  metrics: Pick<Metrics, 'notificationQueue'>;
}

interface Holder {
  pid: number;
  login: string;
  since: string;
  isAnalyst: boolean;
}

export async function watchNotificationQueue(
  { database: { pool }, log, metrics }: Dependencies,
  signal: AbortSignal,
  { limit = LIMIT, pauseMs = PAUSE_MS } = {},
): Promise<void> {
  let warnAt = Number.NEGATIVE_INFINITY;
  /** When the queue was first seen above the limit: a transaction that holds it is older. */
  let highSince: string | undefined;
  while (!signal.aborted) {
    try {
      const { rows } = await pool.query<{ usage: number; now: string }>(
        'select pg_notification_queue_usage() as usage, clock_timestamp()::text as now',
      );
      const { usage, now } = rows[0] ?? { usage: 0, now: undefined };
      metrics.notificationQueue.set(usage);
      highSince = usage > limit ? (highSince ?? now) : undefined;
      const [oldest] = highSince === undefined ? [] : (await pool.query<Holder>(OLDEST, [highSince])).rows;
      if (oldest?.isAnalyst === true) {
        const { pid, login, since } = oldest;
        await pool.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and xact_start::text = $2',
          [pid, since],
        );
        log.warn({ login, pid, usage }, 'terminated the session of an analyst that held the queue of notifications');
      } else if (highSince !== undefined && performance.now() >= warnAt) {
        warnAt = performance.now() + WARN_EVERY_MS;
        log.warn({ usage, ...oldest }, 'the queue of notifications fills up; end the oldest transaction that listens');
      }
    } catch {
      // The indexer reports an unavailable database.
    }
    await sleep(pauseMs, signal).catch(() => undefined);
  }
}

/**
 * No view says which sessions listen, so the oldest transaction of an analyst is the first suspect,
 * if it is older than the high queue. Sessions that block while they read notifications have a
 * transaction, too.
 */
const OLDEST = `
  select s.pid, r.rolname as login, s.xact_start::text as since,
         ${IS_ANALYST} and pg_has_role(r.oid, 'usage') as "isAnalyst"
    from pg_stat_activity s join pg_roles r on r.oid = s.usesysid
   where s.xact_start <= $1::timestamptz and s.pid <> pg_backend_pid()
     and s.backend_type = 'client backend'
   order by "isAnalyst" desc, s.xact_start limit 1`;
