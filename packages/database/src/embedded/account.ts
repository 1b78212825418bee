/**
 * Whom Postgres runs as. It refuses root, so root needs another account. We take one that exists rather than make one:
 * `postgres` where the system has it (made for just this), else `nobody` (there on every Debian, Alpine and in every
 * container). User namespaces or ambient capabilities would let root's own files be used as they are, but containers forbid
 * the first and lack the tools for the second; a plain change of user works wherever root is root.
 */
import { stat } from 'node:fs/promises';
import { EmbeddedPostgresUnavailableError } from './errors.ts';
import { type Account, run } from './run.ts';

const CANDIDATES = ['postgres', 'nobody'];

/**
 * The account for a cluster: this process's own user, and for root the owner of the cluster that is there already, else one
 * of the candidates.
 * @throws {EmbeddedPostgresUnavailableError}
 */
export async function chooseAccount(existingCluster: string | undefined): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  const account = (await findOwner(existingCluster)) ?? (await findCandidate());
  // Some containers take this right from root, or have no other user mapped into them.
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
