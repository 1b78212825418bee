// `kasgres verify`: the invariants that a database can prove by itself (docs/invariants.md). An indexer may go on meanwhile: each check reads
// one state of the database, and lets go of it before the next begins, so that vacuum is held up no longer than the longest check takes.

import { inTransaction } from '@kasgres/database';
import { Command } from 'commander';
import type { PoolClient } from 'pg';
import { print } from '../output.ts';
import { findBootstrap } from '../export/chain.ts';
import { checkAcceptance } from '../verify/acceptance.ts';
import { checkInvariant4 } from '../verify/balances.ts';
import { checkInvariant12 } from '../verify/clusters.ts';
import { checkInvariant7 } from '../verify/completeness.ts';
import { checkCurrentState } from '../verify/current-state.ts';
import { checkGhostdag } from '../verify/ghostdag.ts';
import { checkBlocks, checkTransactions } from '../verify/hashes.ts';
import { checkScripts } from '../verify/scripts.ts';
import { describeSince, EVERYTHING, findSince, type Since } from '../verify/since.ts';
import { checkCommittedSet, copyCommittedSet, estimateHashing } from '../verify/utxo-commitment.ts';
import type { UtxoSet } from '../verify/utxo-copy.ts';
import { findUtxoSetLoad } from '../verify/utxo-set-load.ts';
import { withDatabase } from '../with-database.ts';

/** On as many cores, while other threads hash. */
const SESSIONS = 2;
/** For joins and sums of whole tables, in each session. */
const SETTINGS = { work_mem: '128MB' };

const HELP = `
Each line of the answer is an invariant of docs/invariants.md with "holds", "BROKEN" and what is wrong, or "skipped" and why. The same
document says what this proves, and what it cannot. Exit code 0: nothing is broken; 1: something is.

UTXO sets are hashed on all cores, 20,000 to 40,000 UTXOs a second each; how long that will take is printed first. They are copied to a
file in the directory for temporary files (TMPDIR) before, about 130 bytes a UTXO, so that the database is not held up meanwhile.

--since verifies less, on an index of months: blocks, transactions and what the chain made of them from a point on, and what can be proven of
the current state without its history: the UTXO set, balances, the supply, scripts, clusters and tags. It leaves out rollups, changes of
balances by hour, and the UTXO set that the index began with. POINT is one of
  a DAA score                  the first chain block with this DAA score or a higher one
  the hash of a chain block    that block
  a time                       the first chain block from then on: 2026-11-01 (UTC), 2026-11-01T12:00:00Z

Examples:
  kasgres verify                                  everything
  kasgres verify --since 2026-11-01               what was written in November, and the current state
  kasgres verify --without-utxos --without-start  what takes Postgres and one core alone
`;

interface Check {
  name: string;
  /** Needs what is not kept during the first catch-up. */
  needsState?: boolean;
  /** Why it is skipped; undefined when it is not. */
  skipped?: string | undefined;
  /** Inside a transaction that reads one state. Returns what is wrong, one sentence each, or what finds it without the database. */
  check: (client: PoolClient) => Promise<string[] | (() => Promise<string[]>)>;
}

interface VerifyOptions {
  withoutStart?: true;
  withoutUtxos?: true;
  since?: string;
}

/** What is hashed on all cores comes first, so that they have work while Postgres has. */
function listChecks({ withoutStart, withoutUtxos }: VerifyOptions, since: Since | undefined): Check[] {
  const from = since ?? EVERYTHING;
  const history = since && 'needs all of the history, and --since leaves that out';
  const hashed: Check[] = [
    {
      name: '8: the current UTXO set is the one that the header of the last chain block commits to',
      needsState: true,
      skipped: withoutUtxos && '--without-utxos leaves it out',
      check: (client) => copyToCheck(client, 'utxos'),
    },
    {
      name: '8: the UTXO set of the start is the one that the header of its block commits to',
      skipped: withoutStart ? '--without-start leaves it out' : history,
      check: (client) => copyToCheck(client, 'start_utxos'),
    },
  ];
  return [
    ...hashed,
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
    ...(since === undefined
      ? []
      : [
          {
            name: '4: balances are those of the current UTXOs, and add up to the supply',
            needsState: true,
            check: checkCurrentState,
          },
        ]),
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

export function verifyCommand(): Command {
  return new Command('verify')
    .description('check the invariants of the database; exit code 1 when one does not hold')
    .option(
      '--since <point>',
      'verify what was written from a DAA score, chain block or time on, and the current state',
    )
    .option('--without-utxos', 'leave out the current UTXO set')
    .option('--without-start', 'leave out the UTXO set that the index began with')
    .addHelpText('after', HELP)
    .action(async (options: VerifyOptions) => {
      process.exitCode = await runVerify(options);
    });
}

/** Prints each invariant with what is wrong. Returns the exit code: 1 when one does not hold. */
async function runVerify(options: VerifyOptions): Promise<number> {
  return await withDatabase(
    'verify',
    async ({ pool }) => {
      const since = options.since === undefined ? undefined : await findSince(pool, options.since);
      if (since !== undefined) print(`since   ${describeSince(since)}`);
      const verification = new Verification(listChecks(options, since));
      const sessions = Array.from({ length: SESSIONS }, async () => {
        const client = await pool.connect();
        await verification.work(client).finally(() => client.release());
      });
      await Promise.all(sessions);
      const isBroken = await verification.end();
      const load = await findUtxoSetLoad(pool);
      if (load !== undefined) {
        print(
          `note    a coming start at block ${load.pruningPoint} is being loaded (utxos so far: ${load.utxoCount}); nobody sees it yet`,
        );
      }
      return isBroken ? 1 : 0;
    },
    { max: SESSIONS, settings: SETTINGS },
  );
}

/** Runs checks in several sessions, and prints their outcomes in order. */
class Verification {
  readonly #checks: readonly Check[];
  readonly #outcomes: string[][] = [];
  readonly #hashing: Promise<void>[] = [];
  #next = 0;
  #printed = 0;
  #isBroken = false;

  constructor(checks: readonly Check[]) {
    this.#checks = checks;
  }

  /** Takes one check after the other until none is left. */
  async work(client: PoolClient): Promise<void> {
    for (let place = this.#next++; place < this.#checks.length; place = this.#next++) {
      const { skipped } = this.#checks[place] as Check;
      if (skipped !== undefined) {
        this.#skip(place, skipped);
        continue;
      }
      try {
        await this.#check(client, place);
      } catch (error) {
        // The other sessions end with what they are at.
        this.#next = this.#checks.length;
        throw error;
      }
    }
  }

  /**
   * The index may begin again meanwhile, at a gap. That empties tables in a way that an older snapshot sees, too, so what is found then
   * means nothing.
   */
  async #check(client: PoolClient, place: number): Promise<void> {
    const { needsState = false, check } = this.#checks[place] as Check;
    const { bootstrap, found } = await inTransaction(
      client,
      async () => {
        const bootstrap = await findBootstrap(client);
        if (needsState && bootstrap?.isCatchingUp === true) return { bootstrap, found: undefined };
        return { bootstrap, found: await check(client) };
      },
      { readsOneState: true },
    );
    const isStale = (await findBootstrap(client))?.name !== bootstrap?.name;
    if (found === undefined) this.#skip(place, 'not kept before the first catch-up is over');
    else if (isStale) this.#skip(place, 'the index began again meanwhile; run `kasgres verify` again');
    else if (typeof found === 'function') this.#hash(place, found());
    else this.#report(place, found);
  }

  #skip(place: number, reason: string): void {
    this.#settle(place, [`skipped ${(this.#checks[place] as Check).name}`, `        ${reason}`]);
  }

  /** Returns whether an invariant does not hold. */
  async end(): Promise<boolean> {
    await Promise.all(this.#hashing);
    return this.#isBroken;
  }

  #hash(place: number, faults: Promise<string[]>): void {
    const hashing = faults.then((found) => this.#report(place, found));
    // The rejection is handled where `#hashing` is awaited.
    hashing.catch(() => undefined);
    this.#hashing.push(hashing);
  }

  #report(place: number, faults: readonly string[]): void {
    const { name } = this.#checks[place] as Check;
    const isBroken = faults.length > 0;
    this.#isBroken ||= isBroken;
    this.#settle(place, [`${isBroken ? 'BROKEN' : 'holds'}  ${name}`, ...faults.map((fault) => `        ${fault}`)]);
  }

  #settle(place: number, lines: string[]): void {
    this.#outcomes[place] = lines;
    for (let next = this.#outcomes[this.#printed]; next !== undefined; next = this.#outcomes[this.#printed]) {
      for (const line of next) print(line);
      this.#printed += 1;
    }
  }
}

async function copyToCheck(client: PoolClient, set: UtxoSet): Promise<string[] | (() => Promise<string[]>)> {
  const { utxos, seconds } = await estimateHashing(client, set);
  say(`${set}: about ${Math.round(utxos)} UTXOs, about ${Math.ceil(seconds)} s to hash on all cores; copying them out`);
  const committed = await copyCommittedSet(client, set);
  if (committed === undefined) return [`no block commits to ${set}: there is no checkpoint`];
  return () => checkCommittedSet(committed, (hashed) => say(`${set}: ${hashed} UTXOs hashed`));
}

/** Beside the answer, which is on stdout. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
