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
