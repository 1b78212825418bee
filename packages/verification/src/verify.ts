/**
 * Runs the checks of the invariants that a database can prove by itself (docs/invariants.md). An
 * indexer may run meanwhile: each check reads one snapshot and releases it before the next begins,
 * so that vacuum is delayed no longer than the longest check takes.
 */
import { inTransaction } from '@kasgres/database';
import { findBootstrap, type Queryable, verifyCurrentState, verifyState } from '@kasgres/state';
import type { Pool, PoolClient } from 'pg';
import { checkAcceptance } from './acceptance.ts';
import { checkInvariant7 } from './completeness.ts';
import { checkGhostdag } from './ghostdag.ts';
import { checkBlocks, checkScripts, checkTransactions } from './hashes.ts';
import { EVERYTHING, type Since } from './since.ts';
import { checkCommittedSet, copyCommittedSet, estimateHashing, type UtxoSet } from './utxo-commitment.ts';

/** Postgres works on two cores while the other threads hash. */
const SESSIONS = 2;

/** The pool of `verify` needs these options. */
export const VERIFICATION_CONNECTION = { max: SESSIONS, settings: { work_mem: '128MB' } };

export interface VerifyOptions {
  /** Verifies rows from this block on, and the parts of the current state that need no others. */
  since?: Since | undefined;
  withoutStart?: boolean | undefined;
  withoutUtxos?: boolean | undefined;
}

export interface Outcome {
  name: string;
  /** Faults, one sentence each, or the reason why the check was skipped. */
  found: string[] | string;
}

interface Check {
  name: string;
  /** Needs derived state, which is incomplete during the first catch-up. */
  needsState?: boolean;
  skipped?: string | false | undefined;
  /**
   * Runs in a transaction with one snapshot. Returns the faults, one sentence each, or a function
   * that finds them without the database.
   */
  check: (client: PoolClient) => Promise<Faults>;
}

type Faults = string[] | (() => Promise<string[]>);

export const checkInvariant4 = (db: Queryable): Promise<string[]> => verifyState(db, 4);
export const checkInvariant12 = (db: Queryable): Promise<string[]> => verifyState(db, 12);

/**
 * Runs the checks in several sessions and yields their outcomes in order.
 * @param report receives messages about checks that take long
 */
export async function* verify(
  pool: Pool,
  options: VerifyOptions,
  report: (message: string) => void,
): AsyncGenerator<Outcome> {
  const checks = listChecks(options, report).map((check) => ({
    check,
    ...Promise.withResolvers<Outcome['found']>(),
  }));
  const pending = checks.values();
  let hasFailed = false;
  const runPending = async (): Promise<void> => {
    const client = await pool.connect();
    try {
      for (const { check, resolve } of pending) {
        // The other sessions stop after their current check.
        if (hasFailed) break;
        const found = check.skipped || (await runCheck(client, check));
        resolve(typeof found === 'function' ? found() : found);
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      client.release();
    }
  };
  const sessions = Promise.all(Array.from({ length: SESSIONS }, runPending));
  // Rejections are handled where the outcomes are awaited.
  for (const promise of [sessions, ...checks.map(({ promise }) => promise)]) promise.catch(() => undefined);
  for (const { check, promise } of checks) {
    yield { name: check.name, found: await Promise.race([promise, sessions.then(() => promise)]) };
  }
}

/**
 * Checks that hash on all cores come first, and run while Postgres works on the remaining checks.
 */
function listChecks({ since, withoutStart, withoutUtxos }: VerifyOptions, report: (message: string) => void): Check[] {
  const from = since ?? EVERYTHING;
  const history = since && '--since skips it: it needs the whole history';
  const currentState: Check = {
    name: '4: balances are those of the current UTXOs, and add up to the supply',
    needsState: true,
    check: verifyCurrentState,
  };
  return [
    {
      name: '8: the current UTXO set is the one that the header of the last chain block commits to',
      needsState: true,
      skipped: withoutUtxos && 'skipped by --without-utxos',
      check: (client) => copyToCheck(client, 'utxos', report),
    },
    {
      name: '8: the UTXO set of the bootstrap block is the one that its header commits to',
      skipped: withoutStart ? 'skipped by --without-start' : history,
      check: (client) => copyToCheck(client, 'bootstrap_utxos', report),
    },
    {
      name: '8: ids and hashes of transactions are those of their rows',
      check: (client) => checkTransactions(client, from),
    },
    {
      name: '4: balances and what is counted for each script are the sums of its rows, and add up to the supply',
      needsState: true,
      skipped: history,
      check: checkInvariant4,
    },
    ...(since === undefined ? [] : [currentState]),
    {
      name: '7: every block of every mergeset is there with its transactions, and every reference leads to a row',
      check: (client) => checkInvariant7(client, from),
    },
    {
      name: '3: accepted transactions are in the order of the mergeset, each in a variant that it carries',
      check: (client) => checkAcceptance(client, from),
    },
    {
      name: '7: selected parents, mergesets and colours are those of GHOSTDAG',
      check: (client) => checkGhostdag(client, since),
    },
    {
      name: '8: hashes and merkle roots of blocks are those of their rows',
      check: (client) => checkBlocks(client, from),
    },
    { name: '8: every script is there once, with its type and address', check: checkScripts },
    {
      name: '12: clusters are what their merges made of the scripts that accepted transactions tie, tags what their sources say',
      check: checkInvariant12,
    },
  ];
}

/**
 * A new bootstrap after a gap truncates tables, which is visible to older snapshots too and
 * invalidates the findings.
 */
async function runCheck(client: PoolClient, { needsState = false, check }: Check): Promise<Faults | string> {
  const { bootstrap, found } = await inTransaction(
    client,
    async () => {
      const bootstrap = await findBootstrap(client);
      const isIncomplete = needsState && bootstrap?.isCatchingUp === true;
      return { bootstrap, found: isIncomplete ? 'incomplete during the first catch-up' : await check(client) };
    },
    { readsSnapshot: true },
  );
  if (typeof found === 'string' || (await findBootstrap(client))?.id === bootstrap?.id) return found;
  return 'the index was bootstrapped again meanwhile; run `kasgres verify` again';
}

async function copyToCheck(client: PoolClient, set: UtxoSet, report: (message: string) => void): Promise<Faults> {
  const { utxos, seconds } = await estimateHashing(client, set);
  report(
    `${set}: about ${Math.round(utxos)} UTXOs, about ${Math.ceil(seconds)} s to hash on all cores; copying them out`,
  );
  const committed = await copyCommittedSet(client, set);
  if (committed === undefined) return [`no block commits to ${set}: there is no checkpoint`];
  return () => checkCommittedSet(committed, (hashed) => report(`${set}: ${hashed} UTXOs hashed`));
}
