/**
 * How all connections to Postgres are opened: what the address says, and then the settings that the
 * programs rely on.
 */
import { readFileSync } from 'node:fs';
import { type DatabaseAddress, readDatabaseUrl } from '@kasgres/runtime';
import type { ClientBase, ClientConfig, PoolClient } from 'pg';
import pgpass, { type PasswordTarget } from 'pgpass';

/**
 * Settings of a server, a database or a role that would change the meaning of statements and
 * results. They are set for each session, after everything else. `kasgres.pinned` shows whether
 * they arrived.
 */
export const PINNED = {
  'kasgres.pinned': 'yes',
  array_nulls: 'on',
  bytea_output: 'hex',
  client_encoding: 'UTF8',
  datestyle: 'ISO, MDY',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  intervalstyle: 'postgres',
  plan_cache_mode: 'auto',
  quote_all_identifiers: 'off',
  search_path: '"$user", public',
  standard_conforming_strings: 'on',
  timezone: 'UTC',
  transform_null_equals: 'off',
  // Compiling a short query takes longer than running it.
  jit: 'off',
  // The end of the first catch-up, a check or an export may take hours. Programs set the limits
  // that they need.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
} as const;

/** How long a server may take to accept a connection and its login. */
const CONNECT_WITHIN_MS = 10_000;
/** The default of the system is two hours. A lost host is detected ten seconds later. */
const KEEP_ALIVE_MS = 10_000;

/** On the server: a session whose client is lost must not stay for hours. */
export const SERVER_KEEP_ALIVE = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
} as const;

/**
 * Returns the option `onConnect` of a pool. Servers before Postgres 17 have no such limit, and
 * refuse a session that begins with its name.
 * @param withinMs cuts a connection that does not respond by then: no other limit of the pool
 * applies yet
 */
export function liftTransactionTimeout(withinMs = CONNECT_WITHIN_MS): (client: ClientBase) => unknown {
  // The pool waits for the promise, which the types of pg do not say.
  return async (client) => {
    const { stream } = (client as PoolClient).connection;
    const timer = setTimeout(() => stream.destroy(), withinMs);
    try {
      await client.query(
        `select set_config('transaction_timeout', '0', false)
         where current_setting('transaction_timeout', true) <> '0'`,
      );
    } finally {
      clearTimeout(timer);
    }
  };
}

/** @param settings override those that all programs have */
export function clientConfig(url: string, settings: Readonly<Record<string, string>> = {}): ClientConfig {
  const address = readDatabaseUrl(url);
  const { username, password, hostname, port, pathname } = address.url;
  const database = decodeURIComponent(pathname.slice(1));
  // Missing parts come from PGUSER and the like, as for libpq.
  return {
    ...(username !== '' && { user: decodeURIComponent(username) }),
    password: password === '' ? findPassword : decodeURIComponent(password),
    host: decodeURIComponent(hostname.replace(/^\[(.+)\]$/u, '$1')),
    ...(port !== '' && { port: Number(port) }),
    ...(database !== '' && { database }),
    // Otherwise pg would read PGSSLMODE, in its own dialect.
    ssl: tlsOf(address),
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...(address.hasDirectTls && { sslnegotiation: 'direct' }),
    ...(address.channelBinding !== undefined && { enableChannelBinding: address.channelBinding !== 'disable' }),
    // Otherwise pg would read PGOPTIONS.
    options: encodeSettings({ ...PINNED, ...settings }),
  };
}

/**
 * Returns the password that libpq would use: of PGPASSWORD, else of a password file. pg, which
 * calls it, warns if it has to read the file.
 */
const findPassword = (async (target: PasswordTarget): Promise<string | undefined> => {
  return process.env['PGPASSWORD'] ?? (await new Promise((resolve) => pgpass(target, resolve)));
  // The types of pg lack the parameter and that there may be none.
}) as unknown as () => Promise<string>;

function tlsOf({ sslMode, rootCertificate, certificate, key, url }: DatabaseAddress): ClientConfig['ssl'] {
  if (sslMode === 'disable') return false;
  const isName = !/^[\d.]+$|:/u.test(url.hostname);
  return {
    rejectUnauthorized: sslMode !== 'require',
    ...(rootCertificate !== undefined && rootCertificate !== 'system' && { ca: readFileSync(rootCertificate, 'utf8') }),
    ...(certificate !== undefined && { cert: readFileSync(certificate, 'utf8') }),
    ...(key !== undefined && { key: readFileSync(key, 'utf8') }),
    // The certificate may be of any name.
    ...(sslMode === 'verify-ca' && { checkServerIdentity: () => undefined }),
    ...(isName && { servername: decodeURIComponent(url.hostname) }),
  };
}

/** Escapes blanks, at which the server splits its start-up `options`. */
function encodeSettings(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, (character) => `\\${character}`)}`)
    .join(' ');
}
