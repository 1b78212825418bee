/**
 * The database fails during the first catch-up, again and again, each time at a later place of it: the next attempt finishes what is
 * there, and the index equals one that was never disturbed (invariants 1 and 5).
 */
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { connect, migrate } from '@kasgres/database';
import type { RunningIndexer } from '../simulation/world.ts';
import { endWaiting, holdAt, letGo, preparePlaces, removePlaces, untilOneWaits } from './held-places.ts';
import { SmallDisk } from './small-disk.ts';
import { expectRecovery, follow, openStage } from './stage.ts';

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

beforeEach(async () => {
  await emptyDatabase();
  await preparePlaces(stage);
});
afterAll(async () => {
  await stage.close();
  await disk?.unmount();
});

const FAULTS: [string, (place: string) => Promise<void>][] = [
  ['the connection that works there is ended', (place) => endWaiting(stage, place)],
  [
    'Postgres is stopped immediately and started again',
    async () => {
      await stage.postgres.stop('immediate');
      await stage.postgres.startAgain();
    },
  ],
  ['connections are lost without a word', async () => stage.proxy.lose()],
];

describe.each(FAULTS)('%s', (_, fail) => {
  test(
    'at each place of the first catch-up',
    async () => {
      await holdAt(stage, PLACES[0] ?? '');
      const indexer = follow(stage, VARIABLES);
      for (const [number, place] of PLACES.entries()) {
        await step(place, indexer, async () => {
          await untilOneWaits(stage, place);
          await holdAt(stage, PLACES[number + 1] ?? 'nothing');
          await fail(place);
          await letGo(stage, place);
        });
      }
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
    for (const [number, place] of PLACES_THAT_NEED_ROOM.entries()) {
      await step(place, indexer, async () => {
        await untilOneWaits(stage, place);
        const before = await failuresOf(indexer);
        await disk?.fill();
        await letGo(stage, place);
        await expect.poll(() => failuresOf(indexer), { timeout: 30_000 }).toBeGreaterThan(before);
        await holdAt(stage, PLACES_THAT_NEED_ROOM[number + 1] ?? 'nothing');
        await disk?.makeRoom();
      });
    }
    await expectFinished(indexer);
  },
  TIMEOUT_MS,
);

/** Names the place where it goes wrong. */
async function step(place: string, indexer: RunningIndexer, work: () => Promise<void>): Promise<void> {
  try {
    await Promise.race([work(), indexer.ended.then(() => Promise.reject(new Error('the indexer ended')))]);
  } catch (cause) {
    throw new Error(`at "${place}"`, { cause });
  }
}

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

/** With the schema and nothing else. */
async function emptyDatabase(): Promise<void> {
  const url = new URL(stage.postgres.url);
  url.pathname = '/postgres';
  const server = connect({ url: url.toString(), applicationName: 'kasgres test', max: 1 });
  onTestFinished(() => server.close());
  await server.pool.query('drop database if exists kasgres with (force)');
  if (tablespace !== undefined) {
    const { rowCount } = await server.pool.query("select from pg_tablespace where spcname = 'small'");
    if (rowCount === 0) await server.pool.query(`create tablespace small location '${tablespace}'`);
  }
  await server.pool.query(`create database kasgres ${tablespace === undefined ? '' : 'tablespace small'}`);
  await server.close();
  await migrate(stage.postgres.url);
}
