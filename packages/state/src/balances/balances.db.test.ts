import { createTestDatabase } from '@kasgres/database/testing';
import { expect, onTestFinished, test } from 'vitest';
import { StateChanges } from '../state-changes.ts';
import { HourlyDeltas } from './hourly-changes/hourly-deltas.ts';
import { ScriptActivityChanges } from './script-activity/replay.ts';
import { BalanceDeltas } from './balance-deltas.ts';
import { balances } from './balances.ts';

const SCRIPT = 7;
const HOUR = 480_000;

test('it writes the change of the latest hour if a reorg changes nothing else of a script', async () => {
  const seen = BigInt(HOUR) * 3_600_000n;
  const lastChange = { hour: HOUR, change: 30n };
  const changes = new StateChanges({ checkpoint: 9, fork: 8, forkTime: seen, to: 9, firstTransaction: 1 });
  const received = (hour: number, sign: 1 | -1) => {
    const chainBlock = { index: 9, chainTime: BigInt(hour) * 3_600_000n, blocks: 1, redBlocks: 0, work: 1n };
    const transaction = {
      isCoinbase: false,
      chainBlock,
      deltas: new Map([[SCRIPT, { sent: 0n, received: 20n, utxoCount: 1 }]]),
    };
    changes.of(BalanceDeltas).add(transaction, sign);
    changes.of(HourlyDeltas).add(transaction, sign);
  };
  received(HOUR, -1);
  received(HOUR - 1, 1);
  const activity = changes.of(ScriptActivityChanges);
  activity.stored = new Map([[SCRIPT, { first: seen, last: seen, touched: seen, accepted: 2n, lastChange }]]);
  activity.after = activity.stored;
  changes.of(HourlyDeltas).settle(activity.stored);

  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const client = await database.pool.connect();
  onTestFinished(() => client.release());
  await client.query(
    `insert into balances (script_id, balance, utxo_count, accepted_count, receiving_count,
      received, first_seen, last_seen, last_change, last_change_hour)
     values ($1, 30, 2, 2, 2, 30, $2, $2, 30, $3)`,
    [SCRIPT, seen, HOUR],
  );
  await balances.apply?.(client, changes);
  const { rows } = await client.query('select balance::int, last_change::int, last_change_hour from balances');
  expect(rows).toEqual([{ balance: 30, last_change: 10, last_change_hour: HOUR }]);
});
