/**
 * `kasgres verify` checks the invariants that a database can prove by itself (docs/invariants.md).
 * An indexer may run meanwhile: each check reads one snapshot and releases it before the next
 * begins, so that vacuum is delayed no longer than the longest check takes.
 */
import { inTransaction } from '@kasgres/database';
import { verifyCurrentState, verifyState } from '@kasgres/state';
import { Command } from 'commander';
import type { Pool, PoolClient } from 'pg';
import { print, printMessage } from '../command-line.ts';
import { checkAcceptance } from '../verify/acceptance.ts';
import { checkInvariant7 } from '../verify/completeness.ts';
import { checkGhostdag } from '../verify/ghostdag.ts';
import { checkBlocks, checkScripts, checkTransactions } from '../verify/hashes.ts';
import { findBootstrap, findFirstBlockOfRetention, findUtxoSetLoad } from '../verify/queries.ts';
import { describeSince, EVERYTHING, findSince, type Since } from '../verify/since.ts';
import { checkCommittedSet, copyCommittedSet, estimateHashing, type UtxoSet } from '../verify/utxo-commitment.ts';
import { withDatabase } from '../with-database.ts';

/** Postgres works on two cores while the other threads hash. */
const SESSIONS = 2;
const SETTINGS = { work_mem: '128MB' };

const HELP = `
Each line of the output is an invariant of docs/invariants.md with "holds", with "BROKEN" and the faults, or with "skipped" and the reason.
That document also says what this command cannot prove. Exit code 0: nothing is broken; 1: something is.

UTXO sets are hashed on all cores, at 20,000 to 40,000 UTXOs a second on each. The expected time is printed first. The sets are copied to
a temporary file (in TMPDIR, about 130 bytes a UTXO) before, so that the database is not held up meanwhile.

--since verifies less, for an index of months: blocks, transactions and acceptance from a point on, and the parts of the current state that
can be proven without history: the UTXO set, balances, the supply, scripts, clusters and tags. It skips network intervals, hourly balance
changes, and the UTXO set of the bootstrap block. POINT is one of
  a DAA score                  the first chain block with this DAA score or a higher one
  the hash of a chain block    that block
  a time                       the first chain block at or after it: 2026-11-01 (UTC), 2026-11-01T12:00:00Z

Examples:
  kasgres verify                                  everything
  kasgres verify --since 2026-11-01               from November on, and the current state
  kasgres verify --without-utxos --without-start  without hashing UTXO sets
`;

interface Check {
  name: string;
  /** Needs derived state, which is incomplete during the first catch-up. */
  needsState?: boolean;
  skipped?: string | undefined;
  /**
   * Runs in a transaction with one snapshot. Returns the faults, one sentence each, or a function
   * that finds them without the database.
   */
  check: (client: PoolClient) => Promise<string[] | (() => Promise<string[]>)>;
}

interface VerifyOptions {
  withoutStart?: true;
  withoutUtxos?: true;
  since?: string;
}

/**
 * Checks that hash on all cores come first, and run while Postgres works on the remaining checks.
 */
function listChecks({ withoutStart, withoutUtxos }: VerifyOptions, since: Since | undefined): Check[] {
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
      check: (client) => copyToCheck(client, 'utxos'),
    },
    {
      name: '8: the UTXO set of the bootstrap block is the one that its header commits to',
      skipped: withoutStart ? 'skipped by --without-start' : history,
      check: (client) => copyToCheck(client, 'bootstrap_utxos'),
    },
    {
      name: '8: ids and hashes of transactions are those of their rows',
      check: (client) => checkTransactions(client, from),
    },
    {
      name: '4: balances and what is counted for each script are the sums of its rows, and add up to the supply',
      needsState: true,
      skipped: history,
      check: (client) => verifyState(client, 4),
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
      check: (client) => verifyState(client, 12),
    },
  ];
}

export function verifyCommand(): Command {
  return new Command('verify')
    .description('check the invariants of the database; exit code 1 if one is broken')
    .option('--since <point>', 'verify rows from a DAA score, chain block or time on, and the current state')
    .option('--without-utxos', 'skip the current UTXO set')
    .option('--without-start', 'skip the UTXO set of the bootstrap block')
    .addHelpText('after', HELP)
    .action(async (options: VerifyOptions) => {
      process.exitCode = await runVerify(options);
    });
}

async function runVerify(options: VerifyOptions): Promise<number> {
  return await withDatabase(
    'verify',
    async ({ pool }) => {
      const since = options.since === undefined ? undefined : await findSince(pool, options.since);
      if (since !== undefined) print(`since   ${describeSince(since)}`);
      const isBroken = await runChecks(pool, listChecks(options, since));
      const firstBlock = await findFirstBlockOfRetention(pool);
      if (firstBlock !== undefined) {
        print(
          `note    RETENTION removed the rows before block ${firstBlock}. Of balances and their hourly changes everything is checked. Totals of scripts are checked to be no less than their rows; network intervals, first times and merges of clusters up to that block are not checked`,
        );
      }
      const load = await findUtxoSetLoad(pool);
      if (load !== undefined) {
        print(
          `note    pending bootstrap block ${load.pruningPoint}: its UTXO set is being loaded and not in use yet (UTXOs so far: ${load.utxoCount})`,
        );
      }
      return isBroken ? 1 : 0;
    },
    { max: SESSIONS, settings: SETTINGS },
  );
}

/** Faults, or the reason why a check was skipped. */
type Outcome = string[] | string;

/**
 * Runs checks in several sessions and prints their outcomes in order. Returns whether an invariant
 * is broken.
 */
async function runChecks(pool: Pool, checks: readonly Check[]): Promise<boolean> {
  const outcomes = checks.map((check) => ({ check, ...Promise.withResolvers<Outcome>() }));
  // Rejections are handled where the outcomes are printed.
  for (const { promise } of outcomes) promise.catch(() => undefined);
  const pending = outcomes.values();
  let hasFailed = false;
  const work = async (): Promise<void> => {
    const client = await pool.connect();
    try {
      for (const { check, resolve } of pending) {
        // The other sessions stop after their current check.
        if (hasFailed) break;
        const found = check.skipped ?? (await runCheck(client, check));
        resolve(typeof found === 'function' ? found() : found);
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      client.release();
    }
  };
  let isBroken = false;
  const printOutcomes = async (): Promise<void> => {
    for (const { check, promise } of outcomes) {
      const outcome = await promise;
      const isSkipped = typeof outcome === 'string';
      isBroken ||= !isSkipped && outcome.length > 0;
      print(`${isSkipped ? 'skipped' : outcome.length > 0 ? 'BROKEN ' : 'holds '} ${check.name}`);
      for (const line of [outcome].flat()) print(`        ${line}`);
    }
  };
  await Promise.all([printOutcomes(), ...Array.from({ length: SESSIONS }, work)]);
  return isBroken;
}

/**
 * A new bootstrap after a gap truncates tables, which is visible to older snapshots too and
 * invalidates the findings.
 */
async function runCheck(
  client: PoolClient,
  { needsState = false, check }: Check,
): Promise<Outcome | (() => Promise<string[]>)> {
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

async function copyToCheck(client: PoolClient, set: UtxoSet): Promise<string[] | (() => Promise<string[]>)> {
  const { utxos, seconds } = await estimateHashing(client, set);
  printMessage(
    `${set}: about ${Math.round(utxos)} UTXOs, about ${Math.ceil(seconds)} s to hash on all cores; copying them out`,
  );
  const committed = await copyCommittedSet(client, set);
  if (committed === undefined) return [`no block commits to ${set}: there is no checkpoint`];
  return () => checkCommittedSet(committed, (hashed) => printMessage(`${set}: ${hashed} UTXOs hashed`));
}
