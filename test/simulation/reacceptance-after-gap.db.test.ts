/**
 * Transactions that the chain accepted before a gap and accepts again after it, since the nodes
 * left that segment below finality. They count in both segments (invariant 4,
 * docs/adr/0007-rollups.md); their row names the later chain block, and the former one when a reorg
 * undoes that (invariant 7).
 */
import type { TestDatabase } from '@kasgres/database/testing';
import type { DagTransaction } from '@kasgres/devnet';
import { restoreFromBeforeGap } from '@kasgres/indexer/testing';
import { checkInvariant12, checkInvariant4, checkInvariant7 } from '@kasgres/verification';
import { expect, test, vi } from 'vitest';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import {
  acceptable,
  followToTheTip,
  forkBelowFinality,
  createPruningHarness,
  withLowFinality,
} from './bootstraps-harness.ts';
import { cluster } from './clusters-harness.ts';
import { atRest, type Harness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

const RECORD = { ON_GAP: 'record' };
const OPTIONS = { depth: 0n, change: true };
vi.setConfig({ testTimeout: 300_000 });

interface Activity {
  /** The number of accepting chain blocks. */
  accepted: bigint;
  first: bigint;
  last: bigint;
  accepted_count: bigint;
  first_seen: bigint;
  last_seen: bigint;
}

/** Selects scripts that only one of these transactions touches. */
async function activityOf({ pool }: TestDatabase, transactions: readonly DagTransaction[]): Promise<Activity[]> {
  const { rows } = await pool.query<Activity>(
    `select count(c.index) as accepted, min(c.chain_time) as first, max(c.chain_time) as last,
      b.accepted_count::bigint, b.first_seen, b.last_seen
       from transactions t
       join address_transactions a on a.transaction_id = t.id
       join balances b on b.script_id = a.script_id
       join chain_blocks c on t.id = any(c.accepted_transactions)
      where t.transaction_id = any($1::bytea[])
        and a.script_id not in (select script_id from bootstrap_utxos)
        and (select count(*) from address_transactions other
          where other.script_id = a.script_id) = 1
      group by t.id, b.script_id`,
    [transactions.map(({ transactionId }) => Buffer.from(transactionId))],
  );
  return rows;
}

async function expectRight({ database, node }: Harness): Promise<void> {
  await cluster(database, OPTIONS, 20);
  const { pool } = database;
  expect(await checkInvariant3(pool, node)).toEqual([]);
  expect(await checkInvariant4(pool)).toEqual([]);
  expect(await checkInvariant7(pool)).toEqual([]);
  expect(await checkInvariant12(pool)).toEqual([]);
}

test.each([
  ['submitted again, and reverted with the kept rows', 'on its branch', false],
  ['submitted again, and reverted without kept rows', 'on its branch', true],
  ['with the blocks that carry it', 'on its branch, with our blocks merged', false],
] as const)(
  'transactions accepted before a gap and again after it, %s, count in both segments',
  async (name, prunes, forgets) => {
    const harness = await createPruningHarness(`accepted again, ${name}`);
    const { simulatedDag, database } = harness;
    simulatedDag.mine(80);
    const theirs = await forkBelowFinality(harness, prunes, () => followToTheTip(harness));
    await cluster(database, OPTIONS);
    await withLowFinality(() => followToTheTip(theirs, RECORD));
    await expectRight(theirs);

    // A block merges a limited number of others, so the simulation may leave ours out.
    const isCertain = prunes === 'on its branch';
    const indexer = startIndexing(theirs.simulatedDag, database.url);
    const again = await acceptable(database, simulatedDag, theirs.simulatedDag);
    if (isCertain) for (const transaction of again) theirs.simulatedDag.submit(transaction);
    const twice: number[] = [];
    const mustContinue = (): boolean => isCertain && !twice.some((count, step) => count < (twice[step - 1] ?? 0));
    for (let step = 0; step < 6 || mustContinue(); step += 1) {
      if (step % 2 === 0) theirs.simulatedDag.mine(4);
      else theirs.simulatedDag.reorganise();
      await atRest(database, theirs.node, indexer);
      await expectRight(theirs);
      for (const row of await activityOf(database, again)) {
        expect(row).toMatchObject({ accepted_count: row.accepted, first_seen: row.first, last_seen: row.last });
      }
      if (step < 4) expect(await findWrongBalances(database)).toEqual([]);
      twice.push(await countTwice(database));
      if (forgets) await database.pool.query('truncate seen_before');
    }
    await indexer.stop();
  },
);

test('a reorg above a gap restores the merging blocks below the gap', async () => {
  const harness = await createPruningHarness('merged again');
  const { simulatedDag, database } = harness;
  simulatedDag.mine(80);
  const theirs = await forkBelowFinality(harness, 'on its branch', () => followToTheTip(harness));
  await withLowFinality(() => followToTheTip(theirs, RECORD));
  const { pool } = database;
  const selectMerged = `
    select b.id, b.merging_block_id, b.is_blue from blocks b
      join chain_blocks c on c.block_id = b.merging_block_id
     where c.index < (select max(chain_index) from bootstrap_blocks) order by b.id`;
  const { rows: merged } = await pool.query<{ id: bigint }>(selectMerged);
  expect(merged.length).toBeGreaterThan(20);
  const keys = merged.map(({ id }) => id);
  // These rows are as after the removal of a chain block above the gap that had merged all blocks.
  await pool.query('update blocks set merging_block_id = null, is_blue = null where id = any($1::bigint[])', [keys]);
  const client = await pool.connect();
  await restoreFromBeforeGap(client, { merged: keys, accepted: [] });
  client.release();
  expect((await pool.query(selectMerged)).rows).toEqual(merged);
});

/** Counts the transactions that two chain blocks accept. */
async function countTwice({ pool }: TestDatabase): Promise<number> {
  const { rows } = await pool.query<{ id: bigint }>(
    `select id from chain_blocks cross join lateral unnest(accepted_transactions) accepted (id)
      group by id having count(*) > 1`,
  );
  return rows.length;
}

/**
 * Returns wrong results of kaspa.balance_at, for addresses in transactions accepted twice, at every
 * third chain block.
 */
async function findWrongBalances({ pool }: TestDatabase): Promise<object[]> {
  const { rows } = await pool.query<object>(
    `with twice as (
       select id from chain_blocks cross join lateral unnest(accepted_transactions) accepted (id)
         group by id having count(*) > 1
     ), involved as (
       select distinct s.id, s.address from twice
         join address_transactions a on a.transaction_id = twice.id
           join scripts s on s.id = a.script_id
        where s.address is not null order by s.id limit 4
     ), beginnings as (
       select s.chain_index, c.chain_time from bootstrap_blocks s
         join chain_blocks c on c.index = s.chain_index
     ), held as (
       select script_id, chain_index, balance from bootstrap_balances
       union all
       select script_id, (select max(chain_index) from bootstrap_blocks), sum(amount)
         from bootstrap_utxos group by 1
     ), requests as (
       select i.id, i.address, c.chain_time,
              (select max(chain_index) from beginnings b
                where b.chain_time <= c.chain_time) as beginning
         from involved i cross join (select distinct chain_time from chain_blocks
           where index % 3 = 0) c
     ), results as (
       select q.address, q.chain_time,
              kaspa.balance_at(q.address,
                to_timestamp(q.chain_time / 1000::double precision)) as balance,
                  coalesce((select sum(balance) from held h
                    where h.script_id = q.id and h.chain_index = q.beginning), 0)
              + coalesce((select sum(a.amount_received - a.amount_sent)
                            from chain_blocks c cross join lateral unnest(c.accepted_transactions) accepted (id)
                            join address_transactions a on a.transaction_id = accepted.id
                              and a.script_id = q.id
                           where c.index > q.beginning
                             and c.chain_time <= q.chain_time), 0) as expected
         from requests q)
     select * from results where balance <> expected`,
  );
  return rows;
}
