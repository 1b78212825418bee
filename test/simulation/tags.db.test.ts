/** The marks of scripts whose owner is known (`balances.is_tagged`), whenever the indexer and the tags come to a script. */
import { type TestDatabase, upsertTags } from '@kasgres/database';
import { expect, test } from 'vitest';
import { checkInvariant4 } from '../invariants/balances.ts';
import { atRest, freshDatabase, setStage, type Stage } from './stage.ts';
import { startIndexing } from './world.ts';

async function follow({ world, node }: Stage, database: TestDatabase): Promise<void> {
  const indexer = startIndexing(world, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
}

async function addressesOf({ pool }: TestDatabase): Promise<string[]> {
  const { rows } = await pool.query<{ address: string }>(
    'select address from scripts where address is not null order by id',
  );
  return rows.map(({ address }) => address);
}

async function countTagged({ pool }: TestDatabase): Promise<number> {
  const { rowCount } = await pool.query('select from balances where is_tagged');
  return rowCount ?? 0;
}

async function tagAll({ pool }: TestDatabase, addresses: readonly string[]): Promise<void> {
  const tag = { name: 'somebody', link: '', labels: [] };
  await upsertTags(
    pool,
    addresses.map((address) => ({ ...tag, address })),
  );
}

test('tags that are there before the scripts, and clusters', async () => {
  const stage = await setStage('tags');
  const { world, database: ahead } = stage;
  const late = await freshDatabase();
  world.mine(60);
  await follow(stage, late);
  world.mine(60);
  await follow(stage, ahead);

  const known = new Set(await addressesOf(late));
  const tagged = (await addressesOf(ahead)).filter((address) => !known.has(address)).slice(0, 3);
  await tagAll(late, tagged);
  expect(await countTagged(late)).toBe(0);
  await follow(stage, late);
  expect(tagged).toHaveLength(3);
  expect(await countTagged(late)).toBe(3);
  expect(await checkInvariant4(late.pool)).toEqual([]);

  const fresh = await freshDatabase();
  await tagAll(fresh, tagged);
  await follow(stage, fresh);
  expect(await countTagged(fresh)).toBe(3);
  expect(await checkInvariant4(fresh.pool)).toEqual([]);
});

test('tags that come after the scripts', async () => {
  const stage = await setStage('tags later');
  const { world, database } = stage;
  world.mine(60);
  await follow(stage, database);
  await tagAll(database, (await addressesOf(database)).slice(0, 7));
  expect(await countTagged(database)).toBe(7);
  world.mine(30);
  await follow(stage, database);
  expect(await countTagged(database)).toBe(7);
  expect(await checkInvariant4(database.pool)).toEqual([]);
});
