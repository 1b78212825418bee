/**
 * Enforces the limits of analysts from outside, since a session may switch off the
 * statement_timeout of its login: cancels, then terminates.
 */
import { type Connection, DEFAULT_TIMEOUT_SECONDS, IS_ANALYST, TRANSACTION_TIMEOUTS } from '@kasgres/database';
import { type Logger, sleep } from '@kasgres/runtime';

const PAUSE_MS = 2_000;

interface Offence {
  pid: number;
  login: string;
  /** When it began; distinguishes it from the next offence of the same session. */
  since: string;
  what: 'statement' | 'idle' | 'transaction' | 'other database';
  seconds: number;
  limitSeconds: number;
}

export async function watchAnalysts(
  { database: { pool }, log }: { database: Pick<Connection, 'pool'>; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  let cancelledBefore = new Set<string>();
  const unseen = new Set<string>();
  while (!signal.aborted) {
    const cancelled = new Set<string>();
    try {
      for (const { login } of (await pool.query<{ login: string }>(UNSEEN)).rows) {
        if (!unseen.has(login)) log.warn({ login }, 'cannot hold this analyst to its limits: run ops/roles.sql');
        unseen.add(login);
      }
      for (const { pid, login, since, what, seconds, limitSeconds } of (await pool.query<Offence>(OFFENCES)).rows) {
        const statement = `${pid} ${since}`;
        const cancels = what === 'statement' && !cancelledBefore.has(statement);
        if (cancels) cancelled.add(statement);
        const { rowCount } = await pool.query(
          `select ${cancels ? 'pg_cancel_backend' : 'pg_terminate_backend'}(pid) from pg_stat_activity
            where pid = $1 and ${SINCE[what]}::text = $2`,
          [pid, since],
        );
        if (rowCount === 0) continue;
        log.warn(
          { login, pid, what, seconds: Math.round(seconds), limitSeconds },
          cancels ? 'cancelled the statement of an analyst' : 'terminated the session of an analyst',
        );
      }
      cancelledBefore = cancelled;
    } catch {
      // The indexer reports an unavailable database.
    }
    await sleep(PAUSE_MS, signal).catch(() => undefined);
  }
}

const UNSEEN = `
  select distinct r.rolname as login from pg_stat_activity s join pg_roles r on r.oid = s.usesysid
   where ${IS_ANALYST} and not pg_has_role(r.oid, 'usage')`;

const SINCE = {
  statement: 'query_start',
  idle: 'state_change',
  transaction: 'xact_start',
  'other database': 'backend_start',
} as const;

/**
 * Whether the session `s` of the role `r` is in our database or in one that the role may connect to
 * by a grant.
 */
const IS_IN_ITS_DATABASE = `
  (s.datid = (select oid from pg_database where datname = current_database())
   or exists (select from pg_database d cross join aclexplode(d.datacl) a
               where d.oid = s.datid and a.grantee <> 0 and a.privilege_type = 'CONNECT'
                 and pg_has_role(r.oid, a.grantee, 'usage')))`;

const OFFENCES = `
  select o.pid, r.rolname as login, o.since::text, o.what,
         extract(epoch from clock_timestamp() - o.since)::float8 as seconds,
         o.times * limits.seconds as "limitSeconds"
    from pg_stat_activity s
    join pg_roles r on r.oid = s.usesysid
    left join analysts a on a.login = r.rolname
   cross join lateral (select coalesce(a.timeout_seconds,
     ${DEFAULT_TIMEOUT_SECONDS}) as seconds) limits
   cross join lateral (
     select s.pid, o.* from (values
       ('other database', s.backend_start, 0, not ${IS_IN_ITS_DATABASE}),
       ('transaction', s.xact_start, ${TRANSACTION_TIMEOUTS}, true),
       ('statement', s.query_start, 1, s.state in ('active', 'fastpath function call')),
       ('idle', s.state_change, 1, s.state like 'idle in transaction%')
     ) o (what, since, times, applies)
      where o.applies and clock_timestamp() - o.since > make_interval(secs => o.times * limits.seconds)
      limit 1
   ) o
   where ${IS_ANALYST} and pg_has_role(r.oid, 'usage')`;
