/**
 * The account that Postgres runs as. Postgres refuses root, so root runs it as an existing account:
 * `postgres` if the system has it, else `nobody`, which every Debian, Alpine and container has.
 * User namespaces or ambient capabilities would give access to root's own files, but containers
 * forbid the former and lack the tools for the latter.
 *
 * Files that only root may reach, such as a checkout in /root, are copied to or kept in a directory
 * that root owns and others may enter.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '@kasgres/runtime';

const CANDIDATES = ['postgres', 'nobody'];
const SHARED_DIRECTORY = '/var/lib/kasgres';

/** Undefined for the user of this process. */
export type Account = { uid: number; gid: number } | undefined;

/** No embedded Postgres can run on this machine. */
export class EmbeddedPostgresUnavailableError extends FatalError {
  override readonly name = 'EmbeddedPostgresUnavailableError';

  constructor(reason: string, options?: ErrorOptions) {
    super(`${reason}\nSet DATABASE_URL to a Postgres 15 or newer instead.`, options);
  }
}

interface CommandResult {
  /** Exit code; undefined if the command could not be started or was killed. */
  code: number | undefined;
  /** Standard output and standard error. */
  output: string;
}

/** Runs a command until it exits. Never throws: the result contains the error. */
export async function run(
  command: string,
  parameters: readonly string[],
  { account, env = process.env }: { account?: Account; env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  const chunks: Buffer[] = [];
  try {
    // A command fails in a working directory that its account may not enter.
    const child = spawn(command, parameters, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], ...account });
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code: code ?? undefined, output: Buffer.concat(chunks).toString() };
  } catch (error) {
    return { code: undefined, output: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Returns the account for a cluster: the user of this process, and for root the owner of an
 * existing cluster, else a candidate.
 * @throws {EmbeddedPostgresUnavailableError}
 */
export async function chooseAccount(existingCluster: string | undefined): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  const account = (await findOwner(existingCluster)) ?? (await findCandidate());
  // Some containers deny this right to root, or map no other user.
  const test = await run('/bin/sh', ['-c', ':'], { account });
  if (test.code === 0) return account;
  throw new EmbeddedPostgresUnavailableError(
    `Postgres does not run as root, and this root cannot start it as another user (id ${account.uid}): ${test.output}`,
  );
}

async function findOwner(cluster: string | undefined): Promise<Account> {
  if (cluster === undefined) return undefined;
  const { uid, gid } = await stat(cluster);
  return uid === 0 ? undefined : { uid, gid };
}

async function findCandidate(): Promise<NonNullable<Account>> {
  for (const name of CANDIDATES) {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    if (uid.code === 0 && gid.code === 0) return { uid: Number(uid.output), gid: Number(gid.output) };
  }
  throw new EmbeddedPostgresUnavailableError(
    `Postgres does not run as root, and this system has none of the accounts ${CANDIDATES.join(', ')} to run it as.`,
  );
}

/**
 * Creates a directory that belongs to the account and that nobody else may enter: below `parent`,
 * or in the shared directory if the account cannot reach that.
 * @throws {EmbeddedPostgresUnavailableError}
 */
export async function makeReachableDirectory(
  parent: string,
  prefix: string,
  account: Account,
): Promise<{ directory: string; isShared: boolean }> {
  await mkdir(parent, { recursive: true });
  const directory = await mkdtemp(join(await realpath(parent), prefix));
  if (account === undefined || (await giveTo(directory, account))) return { directory, isShared: false };
  await rm(directory, { recursive: true });

  const shared = await mkdtemp(join(await makeSharedDirectory(), 'cluster-'));
  if (await giveTo(shared, account)) return { directory: shared, isShared: true };
  await rm(shared, { recursive: true });
  throw new EmbeddedPostgresUnavailableError(
    `Postgres would run as user id ${account.uid}, which cannot write to ${shared}.`,
  );
}

/**
 * Tries to write, since access lists, read-only mounts and mapped users matter besides the mode.
 */
async function giveTo(directory: string, account: NonNullable<Account>): Promise<boolean> {
  try {
    await chown(directory, account.uid, account.gid);
  } catch {
    return false;
  }
  const script = 'cd -- "$1" && : >"$1/probe" && rm -- "$1/probe"';
  return (await run('/bin/sh', ['-c', script, 'sh', directory], { account })).code === 0;
}

/**
 * @throws {EmbeddedPostgresUnavailableError} if it cannot be created, or if others may write to it
 */
export async function makeSharedDirectory(): Promise<string> {
  try {
    await mkdir(SHARED_DIRECTORY, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new EmbeddedPostgresUnavailableError(
      `Only root may enter the checkout or DATA_DIR, and ${SHARED_DIRECTORY}, which Postgres would use instead, cannot be created.`,
      { cause: error },
    );
  }
  const { uid, mode } = await stat(SHARED_DIRECTORY);
  if (uid !== 0 || (mode & 0o022) !== 0) {
    throw new EmbeddedPostgresUnavailableError(
      `${SHARED_DIRECTORY} must belong to root and be writable for root only.`,
    );
  }
  return SHARED_DIRECTORY;
}
