/** `kasgres verify` checks what a database can prove of its invariants (docs/invariants.md). */
import { FatalError } from '@kasgres/runtime';
import {
  describeSince,
  findFirstBlockOfRetention,
  findNetworkName,
  findSince,
  VERIFICATION_CONNECTION,
  verify,
} from '@kasgres/verification';
import { Command } from 'commander';
import { print, printMessage } from '../command-line.ts';
import { findUtxoSetLoad } from '../utxo-set-load.ts';
import { withDatabase } from '../with-database.ts';

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

interface VerifyOptions {
  withoutStart?: true;
  withoutUtxos?: true;
  since?: string;
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
      if ((await findNetworkName(pool)) === undefined) throw new FatalError('Nothing is indexed in this database yet.');
      const since = options.since === undefined ? undefined : await findSince(pool, options.since);
      if (since !== undefined) print(`since   ${describeSince(since)}`);
      let isBroken = false;
      for await (const { name, found } of verify(pool, { ...options, since }, printMessage)) {
        const isSkipped = typeof found === 'string';
        isBroken ||= !isSkipped && found.length > 0;
        print(`${isSkipped ? 'skipped' : found.length > 0 ? 'BROKEN ' : 'holds '} ${name}`);
        for (const line of [found].flat()) print(`        ${line}`);
      }
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
    VERIFICATION_CONNECTION,
  );
}
