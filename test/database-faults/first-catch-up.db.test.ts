/**
 * The database fails during the first catch-up, again and again, each time at a later place of it: the next attempt finishes what is
 * there, and the index equals one that was never disturbed (invariants 1 and 5).
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunningIndexer } from '../simulation/world.ts';
import { FAULTS, failAtEach, holdAt, letGo, preparePlaces, removePlaces } from './held-places.ts';
import { SmallDisk } from './small-disk.ts';
import { emptyDatabase, expectRecovery, follow, openStage } from './stage.ts';

/** In the order in which the indexer comes by. From the second attempt on it needs the indexes for look-ups before the first batch. */
const PLACES = [
  'a batch',
  'index public.transactions_transaction_id',
  'index public.scripts_script',
  'the commit of a batch',
  'index public.blocks_daa_score',
  'the emptying of coins',
  'the making of coins',
  'the making of balances',
  'the making of hours',
  // The hours are committed.
  'the making of intervals',
  'index public.balances_balance',
  'the commit that lets questions in',
];
const PLACES_THAT_NEED_ROOM = ['a batch', 'any index', 'the emptying of coins', 'the making of coins'];

/** Several batches, also for those that begin in the middle. */
const VARIABLES = { BATCH_TRANSACTIONS: '40' };
const TIMEOUT_MS = 300_000;

const disk = await SmallDisk.mount(60);
const stage = await openStage('first catch-up');
stage.world.mine(500, 2);
const tablespace = await disk?.makeDirectory('tablespace', stage.postgres.dataDirectory);

if (tablespace !== undefined) {
  await stage.database.pool.query(`create tablespace small location '${tablespace}'`);
}

beforeEach(async () => {
  await emptyDatabase(stage, tablespace && 'small');
  await preparePlaces(stage);
});
afterAll(async () => {
  await stage.close();
  await disk?.unmount();
});

describe.each(FAULTS)('%s', (_, fail) => {
  test(
    'at each place of the first catch-up',
    async () => {
      await holdAt(stage, PLACES[0] ?? '');
      const indexer = follow(stage, VARIABLES);
      await failAtEach(stage, indexer, PLACES, fail);
      await expectFinished(indexer);
    },
    TIMEOUT_MS,
  );
});

test.skipIf(disk === undefined)(
  'the disk is full at each place of the first catch-up that needs room',
  async () => {
    const [first = ''] = PLACES_THAT_NEED_ROOM;
    await holdAt(stage, first);
    const indexer = follow(stage, VARIABLES);
    await failAtEach(stage, indexer, PLACES_THAT_NEED_ROOM, async (_, place) => {
      const before = await failuresOf(indexer);
      await disk?.fill();
      await letGo(stage, place);
      await expect.poll(() => failuresOf(indexer), { timeout: 30_000 }).toBeGreaterThan(before);
      await disk?.makeRoom();
    });
    await expectFinished(indexer);
  },
  TIMEOUT_MS,
);

async function expectFinished(indexer: RunningIndexer): Promise<void> {
  await expectRecovery(stage, indexer);
  const { rows } = await stage.database.pool.query('select name from deferred_indexes');
  expect(rows).toEqual([]);
  await removePlaces(stage);
}

async function failuresOf({ metrics }: RunningIndexer): Promise<number> {
  const { values } = await metrics.failures.get();
  return values.find(({ labels }) => labels.kind === 'database')?.value ?? 0;
}
