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
  const chainBlock = { chainTime: 5n, blocks: 1, redBlocks: 0, work: 1n };
  const transaction = {
    key: 1,
    isCoinbase: false,
    deltas: new Map([[1, { sent: MAX_SOMPI, received: 0n, utxoCount: -1 }]]),
    lane: { subnetwork: 2, gas: 1n },
  };
  const applyChange = async (kind: 'added' | 'removed', index: number, transactions: number): Promise<void> => {
    const changes = new StateChanges({ checkpoint: 1, fork: 1, forkTime: 0n, to: 2, firstTransaction: 1 });
    for (let count = 0; count < transactions; count += 1)
      changes.of(LaneChanges)[kind].add({ ...transaction, chainBlock: { ...chainBlock, index } });
    await lanes.apply?.(client, changes);
  };
  const expectFees = async (transactions: bigint): Promise<void> => {
    const fees = String(transactions * MAX_SOMPI);
    for (const table of ['lanes', 'lane_hours', 'lane_totals']) {
      expect((await client.query(`select fees from ${table}`)).rows, table).toEqual([{ fees }]);
    }
  };
  await applyChange('added', 1, 1);
  await applyChange('added', 2, 4);
  await expectFees(5n);
  const lane = `${'ab'.repeat(4)}${'00'.repeat(16)}`;
  await client.query(`insert into subnetworks values (2, decode('${lane}', 'hex'))`);
  for (const view of ['lanes', 'lane_hours']) {
    const { rows } = await client.query(`select fees_sompi from kaspa.${view}`);
    expect(rows, view).toEqual([{ fees_sompi: 2n ** 63n - 1n }]);
  }
  await applyChange('removed', 2, 4);
  await expectFees(1n);
});

test('a reorg finds the last transaction of a lane by one row, however many are not accepted', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const client = await database.pool.connect();
  onTestFinished(() => client.release());
  const [laneCount, chainLength] = [20, 3_000];
  // Each lane was seen at the beginning of the hour, and in the removed chain block; the last one
  // at the fork, too.
  await client.query(
    `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
      chain_time, highest_transaction, lowest_transaction, hash, blue_score)
     select i, i, i, i, array[i], i, i, i, sha256(i::text::bytea), i
       from generate_series(1, $1::bigint) i`,
    [chainLength],
  );
  const removed = chainLength + 1;
  for (const text of [
    `insert into lane_blocks (subnetwork_id, chain_index)
     select lane, seen from generate_series(2, 1 + $1::integer) lane
       cross join unnest(array[lane, $2::bigint]) seen
     union all select 1 + $1, $2 - 1
     union all select 2 + $1, seen from generate_series(1, $2) seen`,
    `insert into lane_hours (subnetwork_id, hour, transactions, fees, gas, last_seen)
     select lane, 0, 2, 0, 0, $2::bigint from generate_series(2, 1 + $1::integer) lane`,
    `insert into lanes (subnetwork_id, transaction_count, fees, gas, first_seen, last_seen)
     select lane, 2, 0, 0, lane, $2::bigint from generate_series(2, 1 + $1::integer) lane`,
  ])
    await client.query(text, [laneCount, removed]);
  await client.query('analyze chain_blocks, lane_blocks, lane_hours');
  const [fork, forkTime] = [chainLength, BigInt(chainLength)];
  const changes = new StateChanges({ checkpoint: removed, fork, forkTime, to: removed, firstTransaction: 1 });
  const chainBlock = { index: removed, chainTime: BigInt(removed), blocks: 1, redBlocks: 0, work: 1n };
  for (let lane = 2; lane < 2 + laneCount; lane += 1) {
    const of = { key: 1, chainBlock, isCoinbase: false, deltas: new Map(), lane: { subnetwork: lane, gas: 0n } };
    changes.of(LaneChanges).removed.add(of);
  }
  await client.query('begin');
  await lanes.apply?.(client, changes);
  const { rows } = await client.query(
    'select subnetwork_id::integer as lane, last_seen::integer as seen from lanes order by 1',
  );
  const ofLanes = Array.from({ length: laneCount - 1 }, (_, n) => ({ lane: n + 2, seen: n + 2 }));
  expect(rows).toEqual([...ofLanes, { lane: 1 + laneCount, seen: fork }]);
  const read = await client.query<{ relation: string; scans: number }>(
    `select relname as relation, (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as scans
       from pg_stat_xact_user_tables where relname ~ '^(transactions|chain_blocks|lane_blocks)' and schemaname = 'public'`,
  );
  await client.query('rollback');
  for (const { relation, scans } of read.rows) expect(scans, relation).toBeLessThanOrEqual(3 * laneCount);
});
