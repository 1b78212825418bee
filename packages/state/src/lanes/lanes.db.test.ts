import { createTestDatabase } from '@kasgres/database/testing';
import { expect, onTestFinished, test } from 'vitest';
import { StateChanges } from '../state-changes.ts';
import { LaneChanges } from './lane-changes.ts';
import { lanes } from './lanes.ts';

const MAX_SOMPI = 2_900_000_000_000_000_000n;

test('fees of a lane may sum up to more than 64 bits: whoever mines them may pay them again', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const client = await database.pool.connect();
  onTestFinished(() => client.release());
  const chainBlock = { index: 1, chainTime: 5n, blocks: 1, redBlocks: 0, work: 1n };
  const transaction = {
    key: 1,
    chainBlock,
    isCoinbase: false,
    deltas: new Map([[1, { sent: MAX_SOMPI, received: 0n, utxoCount: -1 }]]),
    lane: { subnetwork: 2, gas: 1n },
  };
  const applyChange = async (kind: 'added' | 'removed', transactions: number): Promise<void> => {
    const changes = new StateChanges({ checkpoint: 1, fork: 1, forkTime: 0n, to: 2, firstTransaction: 1 });
    for (let count = 0; count < transactions; count += 1) changes.of(LaneChanges)[kind].add(transaction);
    await lanes.apply?.(client, changes);
  };
  const expectFees = async (transactions: bigint): Promise<void> => {
    const fees = String(transactions * MAX_SOMPI);
    for (const table of ['lanes', 'lane_hours', 'lane_totals']) {
      expect((await client.query(`select fees from ${table}`)).rows, table).toEqual([{ fees }]);
    }
  };
  await applyChange('added', 1);
  await applyChange('added', 4);
  await expectFees(5n);
  const lane = `${'ab'.repeat(4)}${'00'.repeat(16)}`;
  await client.query(`insert into subnetworks values (2, decode('${lane}', 'hex'))`);
  for (const view of ['lanes', 'lane_hours']) {
    const { rows } = await client.query(`select fees_sompi from kaspa.${view}`);
    expect(rows, view).toEqual([{ fees_sompi: 2n ** 63n - 1n }]);
  }
  await applyChange('removed', 4);
  await expectFees(1n);
});

test('a reorg reads the chain once for all lanes that have lost their last transaction', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const client = await database.pool.connect();
  onTestFinished(() => client.release());
  const [laneCount, chainLength, unaccepted] = [20, 3_000, 101];
  // Each lane has one accepted transaction at the beginning of the hour, and more than are read
  // that nobody accepts. Keys: 1 to 3,000 are coinbases, then those of lanes.
  await client.query(
    `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
      chain_time, highest_transaction, lowest_transaction, hash, blue_score)
     select i, i, i, i, case when i between 2 and 1 + $2 then array[i, $1 + i]
       else array[i] end, i, i, i, sha256(i::text::bytea), i
       from generate_series(1, $1::bigint) i`,
    [chainLength, laneCount],
  );
  await client.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes, accepting_index)
     select id, sha256(id::text::bytea), sha256(id::text::bytea), 0, 0, lane, 0, '', 0,
       0, 0, accepting
       from (select i as id, 0 as lane, i as accepting from generate_series(1, $1::bigint) i
             union all select $1 + 1 + l, 1 + l, 1 + l from generate_series(1, $2::bigint) l
             union all select $1 * 2 + i, 2 + i % $2, null
               from generate_series(1, $2 * $3::bigint) i) made`,
    [chainLength, laneCount, unaccepted],
  );
  await client.query('analyze transactions, chain_blocks');
  const changes = new StateChanges({
    checkpoint: chainLength + 1,
    fork: chainLength,
    forkTime: BigInt(chainLength),
    to: chainLength + 1,
    firstTransaction: 1,
  });
  const values = [laneCount, chainLength + 1];
  await client.query(
    `insert into lane_hours (subnetwork_id, hour, transactions, fees, gas, last_seen)
     select lane, 0, 2, 0, 0, $2::bigint from generate_series(2, 1 + $1::integer) lane`,
    values,
  );
  await client.query(
    `insert into lanes (subnetwork_id, transaction_count, fees, gas, first_seen, last_seen)
     select lane, 2, 0, 0, lane, $2::bigint from generate_series(2, 1 + $1::integer) lane`,
    values,
  );
  const chainBlock = {
    index: chainLength + 1,
    chainTime: BigInt(chainLength + 1),
    blocks: 1,
    redBlocks: 0,
    work: 1n,
  };
  for (let lane = 2; lane < 2 + laneCount; lane += 1) {
    changes.of(LaneChanges).removed.add({
      key: 1,
      chainBlock,
      isCoinbase: false,
      deltas: new Map(),
      lane: { subnetwork: lane, gas: 0n },
    });
  }
  await client.query('begin');
  await lanes.apply?.(client, changes);
  const { rows } = await client.query(
    'select subnetwork_id::integer as lane, last_seen::integer as seen from lanes order by 1',
  );
  expect(rows).toEqual(Array.from({ length: laneCount }, (_, n) => ({ lane: n + 2, seen: n + 2 })));
  const scans = await client.query<{ count: number }>(
    `select sum(idx_scan)::integer as count from pg_stat_xact_user_tables
      where relname like 'transactions_%' and schemaname = 'public'`,
  );
  await client.query('rollback');
  expect(scans.rows[0]?.count).toBeLessThan(3 * chainLength);
});
