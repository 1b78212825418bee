/**
 * Invariant 4 where retention removed the rows of the touches: whether a script was touched follows
 * from its count of transactions.
 */
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadActivityAtFork, readStoredActivity } from './look-up.ts';
import { NEVER_SEEN } from './replay.ts';

const CUT = 10;
const CUT_TIME = 1_000_000n;
/** The first has the time of the cut, since it was first accepted there. */
const [TOUCHED, HELD, OLDER, NEW] = [1, 2, 3, 4] as const;

let database: TestDatabase;
let client: PoolClient;
beforeEach(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
  await client.query(
    `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
                               chain_time, highest_transaction, lowest_transaction,
                               hash, blue_score)
     values (${CUT}, 1, 1, ${CUT_TIME}, '{}', ${CUT_TIME}, 0, 0, 'cut', 1);
     insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi)
       values (${CUT}, 1, 2, 2);
     insert into bootstrap_utxos (transaction_id, script_id, amount, block_daa_score,
       index, is_coinbase)
     values (1, ${TOUCHED}, 1, 1, 0, false), (2, ${HELD}, 1, 1, 0, false)`,
  );
});
afterEach(async () => {
  client.release();
  await database.drop();
});

const writeBalance = (script: number, accepted: number, first: bigint, last = first) =>
  client.query(
    `insert into balances (script_id, balance, transaction_count, accepted_count, first_seen,
      last_seen) values ($1, 1, 1, $2, $3, $4)`,
    [script, accepted, first, last],
  );

test('a script that the chain touched first at the time of the cut is active, one that was only held there is not', async () => {
  await writeBalance(TOUCHED, 1, CUT_TIME);
  await writeBalance(HELD, 0, CUT_TIME);
  const stored = await readStoredActivity(client, [TOUCHED, HELD, NEW]);
  const before = await loadActivityAtFork(client, CUT, { removed: [], removedTouches: new Map() }, stored);
  expect(before.get(TOUCHED)).toMatchObject({ first: CUT_TIME, last: CUT_TIME, touched: CUT_TIME });
  expect(before.get(HELD)).toMatchObject({ first: CUT_TIME, last: CUT_TIME, touched: null });
  expect(before.has(NEW)).toBe(false);
});

test('removed chain blocks leave the touches below the cut, also if their rows of seen_before are lost', async () => {
  const later = CUT_TIME + 5n;
  await writeBalance(TOUCHED, 2, CUT_TIME, later);
  await writeBalance(HELD, 1, CUT_TIME, later);
  await writeBalance(OLDER, 3, CUT_TIME - 7n, later);
  await writeBalance(NEW, 1, later);
  const scripts = [TOUCHED, HELD, OLDER, NEW];
  const stored = await readStoredActivity(client, scripts);
  const removal = {
    removed: [{ index: CUT + 1, chainTime: later, scripts: new Set(scripts) }],
    removedTouches: new Map(scripts.map((script) => [script, 1])),
  };
  const expected = {
    [TOUCHED]: { first: CUT_TIME, last: CUT_TIME, touched: CUT_TIME },
    [HELD]: { first: CUT_TIME, last: CUT_TIME, touched: null },
    [OLDER]: { first: CUT_TIME - 7n, last: CUT_TIME - 7n, touched: CUT_TIME - 7n },
    [NEW]: NEVER_SEEN,
  };
  const lost = await loadActivityAtFork(client, CUT, removal, stored);
  expect(Object.fromEntries(lost)).toEqual(expected);

  await client.query(
    `insert into seen_before (chain_index, script_ids, last_seen) values ($1, $2::bigint[], $3::bigint[])`,
    [CUT + 1, scripts, [CUT_TIME, CUT_TIME, CUT_TIME - 7n, null]],
  );
  const kept = await loadActivityAtFork(client, CUT, removal, stored);
  expect(Object.fromEntries(kept)).toEqual(expected);
});
