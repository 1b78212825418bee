/**
 * Addresses of Postgres in the dialect of libpq. The programs connect with pg, which reads some of
 * its parameters otherwise, and `kasgres sql` and analysts with libpq, which rejects parameters of
 * pg. So only parameters that are known here pass, and each has one meaning for both
 * (https://www.postgresql.org/docs/current/libpq-connect.html).
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export type SslMode = 'disable' | 'require' | 'verify-ca' | 'verify-full';

export interface DatabaseAddress {
  /** Without parameters. */
  url: URL;
  sslMode: SslMode;
  /** A file; `system` for the certificate authorities of the system. */
  rootCertificate: string | undefined;
  certificate: string | undefined;
  key: string | undefined;
  hasDirectTls: boolean;
  channelBinding: string | undefined;
}

const SSL_MODES: ReadonlySet<string> = new Set<SslMode>(['disable', 'require', 'verify-ca', 'verify-full']);
/** With one host and programs that set them, these change nothing. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'application_name',
  'connect_timeout',
  'fallback_application_name',
  'gssencmode',
  'target_session_attrs',
  'uselibpqcompat',
]);
const READ: ReadonlySet<string> = new Set([
  'channel_binding',
  'client_encoding',
  'ssl',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslnegotiation',
  'sslrootcert',
]);
/** Others would be refused by libpq, or ask for a protection that pg does not have. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  channel_binding: ['disable', 'prefer', 'require'],
  gssencmode: ['disable', 'prefer'],
  ssl: ['true', '1', 'false', '0'],
  sslnegotiation: ['postgres', 'direct'],
};
const BEFORE_THE_PARAMETERS: ReadonlySet<string> = new Set(['host', 'hostaddr', 'port', 'dbname', 'database']);

export const DATABASE_URL_FORM =
  'must be an address such as postgres://user:password@host:port/database, with special characters of user and password percent-encoded: ' +
  '%40 for @, %2F for /, %3F for ?, %23 for #, %25 for %';

/** libpq tries several hosts, and pg does not. A password may have a comma. */
const SEVERAL_HOSTS = /^[^/]*:\/\/(?:[^/?#]*@)?[^/?#@]*,[^@]*$/u;

/** Returns what is wrong with an address that does not have the form. */
export const formProblemOf = (text: string): string =>
  SEVERAL_HOSTS.test(text) ? 'must name one host: the programs do not try several' : DATABASE_URL_FORM;

/**
 * @throws Error that says what to do, without any part of the address: its password may be anywhere
 * if a special character is not encoded
 */
export function readDatabaseUrl(
  text: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): DatabaseAddress {
  const url = parseUrl(text);
  const parameters = new Map(url.searchParams);
  for (const [index, name] of [...parameters.keys()].entries()) checkName(name, index + 1);
  for (const [name, values] of Object.entries(VALUES)) {
    const value = parameters.get(name);
    if (value !== undefined && !values.includes(value)) throw new Error(`must have ${name}=${values.join(' or ')}`);
  }
  const encoding = parameters.get('client_encoding');
  if (encoding !== undefined && !/^(utf-?8|auto)$/iu.test(encoding)) {
    throw new Error('must not set client_encoding: the programs use UTF-8');
  }
  // Without a mode, libpq reads its variables. A mode of the address decides alone.
  const isSilent = !['sslmode', 'ssl', 'sslrootcert'].some((name) => parameters.has(name));
  const given = (name: string, variable: string): string | undefined =>
    parameters.get(name) ?? (isSilent ? environment[variable] : undefined);
  const named = parameters.get('sslmode') ?? modeOfSsl(parameters.get('ssl')) ?? given('sslmode', 'PGSSLMODE');
  const stated = named === '' ? undefined : named;
  const isUnverified = stated === 'no-verify';
  const rootCertificate = isUnverified ? undefined : given('sslrootcert', 'PGSSLROOTCERT') || undefined;
  const sslMode = isUnverified
    ? 'require'
    : modeOf(isSilent && isOptional(stated) ? undefined : stated, rootCertificate);
  checkProtection(parameters, sslMode, isSilent);
  url.search = '';
  url.hash = '';
  return {
    url,
    sslMode,
    rootCertificate: rootOf(sslMode, rootCertificate),
    certificate: given('sslcert', 'PGSSLCERT') || undefined,
    key: given('sslkey', 'PGSSLKEY') || undefined,
    hasDirectTls: parameters.get('sslnegotiation') === 'direct',
    channelBinding: parameters.get('channel_binding'),
  };
}

/** @throws Error that names the parameter of a file that is of no use */
export function checkCertificateFiles({ sslMode, rootCertificate, certificate, key }: DatabaseAddress): void {
  if (sslMode === 'disable') return;
  const files = {
    sslrootcert: rootCertificate === 'system' ? undefined : rootCertificate,
    sslcert: certificate,
    sslkey: key,
  };
  for (const [name, path] of Object.entries(files)) {
    if (path !== undefined && !isPem(path)) throw new Error(`has an ${name} that cannot be read, or is not a PEM file`);
  }
}

function isPem(path: string): boolean {
  try {
    return readFileSync(path).includes('-----BEGIN ');
  } catch {
    return false;
  }
}

/**
 * Returns the address for libpq, and so for psql, psycopg and SQLAlchemy, whose dialect is
 * `postgresql:`.
 */
export function libpqUrl(text: string): string {
  const address = readDatabaseUrl(text);
  const { url, sslMode, rootCertificate, certificate, key, hasDirectTls, channelBinding } = address;
  const parameters: readonly (readonly [string, string | undefined])[] = [
    // Without a mode, libpq would accept a connection that is not encrypted, and one that is.
    ['sslmode', sslMode === 'disable' && !/[?&]ssl(mode)?=/u.test(text) ? undefined : sslMode],
    ['sslrootcert', rootCertificate],
    ['sslcert', certificate],
    ['sslkey', key],
    ['sslnegotiation', hasDirectTls ? 'direct' : undefined],
    ['channel_binding', channelBinding],
  ];
  for (const [name, value] of parameters) if (value !== undefined) url.searchParams.set(name, value);
  return url.toString().replace(/^postgres(ql)?:/u, 'postgresql:');
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // A character that is not encoded ends the password early: the rest, up to the host, would be in
  // the path, the parameters or the fragment.
  const isWhole = url !== undefined && !`${url.pathname}${url.search}`.includes('@') && url.hash === '';
  if (!isWhole || SEVERAL_HOSTS.test(text)) throw new Error(formProblemOf(text));
  try {
    const parts = [url.username, url.password, url.hostname, url.pathname].map(decodeURIComponent);
    if (!parts.join('').includes('\0')) return url;
  } catch {
    // Without the cause, which may have the text.
  }
  throw new Error(DATABASE_URL_FORM);
}

/** @param position among the parameters, from 1 */
function checkName(name: string, position: number): void {
  if (READ.has(name) || WITHOUT_EFFECT.has(name)) return;
  if (name === 'user' || name === 'password') {
    throw new Error(
      'must have user and password before the host, not as parameters: postgres://user:password@host/database',
    );
  }
  if (BEFORE_THE_PARAMETERS.has(name)) {
    throw new Error(`must not have the parameter ${name}: write postgres://user:password@host:port/database`);
  }
  throw new Error(
    `has an unknown parameter at position ${position}: the programs set what they rely on. Possible are sslmode, sslrootcert, sslcert and sslkey`,
  );
}

/** Refuses what needs TLS, or more than the mode gives: it would have no effect. */
function checkProtection(parameters: ReadonlyMap<string, string>, sslMode: SslMode, isSilent: boolean): void {
  const isDirect = parameters.get('sslnegotiation') === 'direct';
  const hasCertificate = isSilent && (parameters.has('sslcert') || parameters.has('sslkey'));
  if (sslMode === 'disable' && (isDirect || hasCertificate)) {
    throw new Error('must have an sslmode with sslcert, sslkey or sslnegotiation=direct, such as sslmode=verify-full');
  }
  // pg binds where the server offers it.
  if (parameters.get('channel_binding') === 'require' && !sslMode.startsWith('verify-')) {
    throw new Error('must have sslmode=verify-full with channel_binding=require, which alone cannot be enforced');
  }
}

/** As libpq reads the parameter of JDBC. */
function modeOfSsl(ssl: string | undefined): string | undefined {
  if (ssl === undefined) return undefined;
  return ['false', '0'].includes(ssl) ? 'disable' : 'require';
}

function isOptional(mode: string | undefined): boolean {
  return mode === 'allow' || mode === 'prefer';
}

function modeOf(stated: string | undefined, rootCertificate: string | undefined): SslMode {
  if (rootCertificate === 'system') return 'verify-full';
  if (stated === undefined) return rootCertificate === undefined ? 'disable' : 'verify-ca';
  if (!SSL_MODES.has(stated)) {
    throw new Error(
      'must have sslmode=disable, require, verify-ca or verify-full: a connection that is encrypted only where the server likes protects nothing',
    );
  }
  // As libpq does, for compatibility with its early versions.
  if (stated === 'require' && rootCertificate !== undefined) return 'verify-ca';
  return stated as SslMode;
}

function rootOf(mode: SslMode, rootCertificate: string | undefined): string | undefined {
  if (mode === 'disable' || mode === 'require' || rootCertificate !== undefined) return rootCertificate;
  const usual = join(homedir(), '.postgresql', 'root.crt');
  if (existsSync(usual)) return usual;
  if (mode === 'verify-full') return 'system';
  throw new Error('must name the certificate authority of sslmode=verify-ca: sslrootcert=/path/to/ca.pem');
}
