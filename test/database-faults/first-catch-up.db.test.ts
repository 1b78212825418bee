/**
 * The database fails repeatedly during the first catch-up, each time at a later step: the next
 * attempt finishes the existing work, and the index equals an undisturbed one (invariants 1 and 5).
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunningIndexer } from '../support/simulated-dag.ts';
import { FAULTS, failAtEach, holdAt, release, prepareSteps, removeSteps, stopAt } from './held-steps.ts';
import { SmallDisk } from './small-disk.ts';
import { emptyDatabase, expectRecovery, follow, openHarness } from './harness.ts';

/**
 * In the order of the indexer. From the second attempt on it needs the indexes for look-ups before
 * the first batch.
 */
const STEPS = [
  'batch',
  'index public.transactions_transaction_id',
  'index public.scripts_address',
  'index public.scripts_script',
  'commit of a batch',
  'index public.blocks_daa_score',
  'truncate UTXOs',
  'rebuild UTXOs',
  'rebuild balances',
  'rebuild hourly changes',
  // The hours are committed before.
  'rebuild intervals',
  'index public.balances_balance',
  'commit that admits requests',
];
const PLACES_THAT_NEED_ROOM = ['batch', 'any index', 'truncate UTXOs', 'rebuild UTXOs'];

/** Enough for several batches, also from the middle on. */
const VARIABLES = { batchTransactions: '40' };
const TIMEOUT_MS = 300_000;

const disk = await SmallDisk.mount(60);
const harness = await openHarness('first catch-up');
harness.simulatedDag.mine(500, 2);
const tablespace = await disk?.makeDirectory('tablespace', harness.postgres.dataDirectory);

if (tablespace !== undefined) {
  await harness.database.pool.query(`create tablespace small location '${tablespace}'`);
}

beforeEach(async () => {
  await emptyDatabase(harness, tablespace && 'small');
  await prepareSteps(harness);
});
afterAll(async () => {
  await harness.close();
  await disk?.unmount();
});

describe.each(FAULTS)('the first catch-up recovers when %s', (_, fail) => {
  test(
    'at each of its steps',
    async () => {
      await holdAt(harness, STEPS[0] ?? '');
      const indexer = follow(harness, VARIABLES);
      await failAtEach(harness, indexer, STEPS, fail);
      await expectFinished(indexer);
    },
    TIMEOUT_MS,
  );
});

test(
  'the indexer stops at the end of the first catch-up, and finishes it after the next start',
  async () => {
    for (const step of ['any index', 'rebuild UTXOs']) {
      await holdAt(harness, step);
      await stopAt(harness, follow(harness), step);
      await release(harness, step);
    }
    await expectFinished(follow(harness));
  },
  TIMEOUT_MS,
);

test.skipIf(disk === undefined)(
  'the first catch-up recovers when the disk is full at each step that writes',
  async () => {
    const [first = ''] = PLACES_THAT_NEED_ROOM;
    await holdAt(harness, first);
    const indexer = follow(harness, VARIABLES);
    await failAtEach(harness, indexer, PLACES_THAT_NEED_ROOM, async (_, step) => {
      const before = await failuresOf(indexer);
      await disk?.fill();
      await release(harness, step);
      await expect.poll(() => failuresOf(indexer), { timeout: 30_000 }).toBeGreaterThan(before);
      await disk?.makeRoom();
    });
    await expectFinished(indexer);
  },
  TIMEOUT_MS,
);

async function expectFinished(indexer: RunningIndexer): Promise<void> {
  await expectRecovery(harness, indexer);
  const { rows } = await harness.database.pool.query('select name from deferred_indexes');
  expect(rows).toEqual([]);
  await removeSteps(harness);
}

async function failuresOf({ metrics }: RunningIndexer): Promise<number> {
  const { values } = await metrics.failures.get();
  return values.find(({ labels }) => labels.kind === 'database')?.value ?? 0;
}
