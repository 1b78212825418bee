// `kasgres verify`: the invariants that a database can prove by itself (docs/invariants.md), in one snapshot of it, so that an
// indexer may go on meanwhile. It reads every row, and takes minutes on a large index.

import { inTransaction } from '@kasgres/database';
import { print } from '../print.ts';
import { checkInvariant4 } from '../verify/balances.ts';
import { checkInvariant12 } from '../verify/clusters.ts';
import { checkInvariant7 } from '../verify/completeness.ts';
import { checkInvariant8 } from '../verify/hashes.ts';
import type { Queryable } from '../verify/queryable.ts';
import { checkUtxoCommitment } from '../verify/utxo-commitment.ts';
import { findUtxoSetLoad } from '../verify/utxo-set-load.ts';
import { withDatabase } from '../with-database.ts';

interface Check {
  name: string;
  check: (db: Queryable) => Promise<string[]>;
}

const CHECKS: Check[] = [
  {
    name: '4: balances and what is counted for each script are the sums of its rows, and add up to the supply',
    check: checkInvariant4,
  },
  {
    name: '7: every block of every mergeset is there with its transactions, and every reference leads to a row',
    check: checkInvariant7,
  },
  { name: '8: ids, hashes and merkle roots recomputed from the rows equal the stored ones', check: checkInvariant8 },
  {
    name: '12: clusters are what their merges made of the scripts that accepted transactions tie, tags what their sources say',
    check: checkInvariant12,
  },
];

const CHECK_OF_START: Check = {
  name: '8: the UTXO set of the start is the one that the header of its block commits to',
  check: (db) => checkUtxoCommitment(db, sayHashed),
};

interface VerifyOptions {
  /** Also hashes the UTXO set of the latest start, which takes a core about half a minute for each million coins. */
  hashesStart: boolean;
}

/** Prints each invariant with what is wrong. Returns the exit code: 1 when one does not hold. */
export async function runVerify({ hashesStart }: VerifyOptions): Promise<number> {
  const checks = hashesStart ? [...CHECKS, CHECK_OF_START] : CHECKS;
  return await withDatabase('verify', async ({ pool }) => {
    const client = await pool.connect();
    try {
      return await inTransaction(client, () => verify(client, checks), { readsOneState: true });
    } finally {
      client.release();
    }
  });
}

async function verify(db: Queryable, checks: readonly Check[]): Promise<number> {
  let exitCode = 0;
  for (const { name, check } of checks) {
    const wrong = await check(db);
    print(`${wrong.length === 0 ? 'holds' : 'BROKEN'}  ${name}`);
    for (const fault of wrong) print(`        ${fault}`);
    if (wrong.length > 0) exitCode = 1;
  }
  const load = await findUtxoSetLoad(db);
  if (load !== undefined) {
    print(
      `note    a coming start at block ${load.pruningPoint} is being loaded (coins so far: ${load.utxoCount}); nobody sees it yet`,
    );
  }
  return exitCode;
}

/** Beside the answer, which is on stdout. */
function sayHashed(hashed: number, utxoCount: bigint): void {
  process.stderr.write(`${hashed} of ${utxoCount} coins of the start hashed\n`);
}
