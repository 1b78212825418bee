/** A new directory for the account of Postgres: where it is wanted, or, where the account cannot get there, in the shared one. */
import { chown, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresUnavailableError } from './errors.ts';
import { type Account, run } from './run.ts';
import { makeSharedDirectory } from './shared-directory.ts';

/**
 * The directory belongs to the account, and nobody else may enter it.
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

/** Tried rather than computed from modes: access lists, read-only mounts and mapped users count too. */
async function giveTo(directory: string, account: NonNullable<Account>): Promise<boolean> {
  try {
    await chown(directory, account.uid, account.gid);
  } catch {
    return false;
  }
  const script = 'cd -- "$1" && : >"$1/probe" && rm -- "$1/probe"';
  return (await run('/bin/sh', ['-c', script, 'sh', directory], { account })).code === 0;
}
