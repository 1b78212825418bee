/** The flags of tagged scripts (`balances.is_tagged`), in any order of indexing and tagging. */
import { type Attribution, replaceSources, toAttribution, upsertTags } from '@kasgres/database';
import type { TestDatabase } from '@kasgres/database/testing';
import { checkInvariant4 } from '@kasgres/verification';
import { expect, test } from 'vitest';
import { cluster, expectSameClusters } from './clusters-harness.ts';
import { atRest, freshDatabase, createHarness, type Harness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

async function follow({ simulatedDag, node }: Harness, database: TestDatabase): Promise<void> {
  const indexer = startIndexing(simulatedDag, database.url);
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

test('scripts and clusters that come after their tags are flagged', async () => {
  const harness = await createHarness('tags');
  const { simulatedDag, database: ahead } = harness;
  const late = await freshDatabase();
  simulatedDag.mine(60);
  await follow(harness, late);
  simulatedDag.mine(60);
  await follow(harness, ahead);

  const known = new Set(await addressesOf(late));
  const tagged = (await addressesOf(ahead)).filter((address) => !known.has(address)).slice(0, 3);
  await tagAll(late, tagged);
  expect(await countTagged(late)).toBe(0);
  await follow(harness, late);
  expect(tagged).toHaveLength(3);
  expect(await countTagged(late)).toBe(3);
  expect(await checkInvariant4(late.pool)).toEqual([]);

  const fresh = await freshDatabase();
  await tagAll(fresh, tagged);
  await follow(harness, fresh);
  expect(await countTagged(fresh)).toBe(3);
  expect(await checkInvariant4(fresh.pool)).toEqual([]);
});

test('scripts that come before their tags are flagged', async () => {
  const harness = await createHarness('tags later');
  const { simulatedDag, database } = harness;
  simulatedDag.mine(60);
  await follow(harness, database);
  await tagAll(database, (await addressesOf(database)).slice(0, 7));
  expect(await countTagged(database)).toBe(7);
  simulatedDag.mine(30);
  await follow(harness, database);
  expect(await countTagged(database)).toBe(7);
  expect(await checkInvariant4(database.pool)).toEqual([]);
});

test('flags follow sources that come, change and go while clusters grow and fall apart', async () => {
  const harness = await createHarness('tags of clusters', undefined, undefined, { reorgRate: 0.06 });
  const { simulatedDag, database, node } = harness;
  const options = { depth: 2n };
  const said = new Map<string, Attribution[]>();
  const indexer = startIndexing(simulatedDag, database.url);
  for (let step = 0; step < 14; step += 1) {
    simulatedDag.mine(12);
    await atRest(database, node, indexer);
    const source = `source ${step % 3}`;
    said.set(source, step % 5 === 4 ? [] : attributionsAt(step, await addressesOf(database)));
    const attributions = said.get(source) ?? [];
    await replaceSources(database.pool, [{ name: source, title: '', creator: '', attributions }]);
    await cluster(database, options, 1 + step);
    expect(await checkInvariant4(database.pool)).toEqual([]);
  }
  await indexer.stop();

  // In this index, every tag comes before the scripts.
  const fresh = await freshDatabase();
  const sources = [...said].map(([name, attributions]) => ({ name, title: '', creator: '', attributions }));
  await replaceSources(fresh.pool, sources);
  await follow(harness, fresh);
  await cluster(fresh, options);
  await expectSameClusters(database, fresh);
  expect(await checkInvariant4(fresh.pool)).toEqual([]);
  expect(await tagsOf(database)).toEqual(await tagsOf(fresh));
  const { named, disputed } = await countNames(database);
  expect(named > 0n && disputed > 0n).toBe(true);
});

test('a removed name is removed from all scripts, also from those that left the cluster before', async () => {
  const harness = await createHarness('tags that go', undefined, undefined, { reorgRate: 0 });
  const { simulatedDag, database } = harness;
  const options = { depth: 0n };
  simulatedDag.mine(60);
  await follow(harness, database);
  await cluster(database, options);
  const { rows } = await database.pool.query<{ address: string }>(
    `select s.address from cluster_merges m join scripts s on s.id = m.cluster_id
      where cluster_of(m.cluster_id) = m.cluster_id
      order by m.id desc limit 3`,
  );
  const source = { name: 'source', title: '', creator: '' };
  const attributions = [...new Set(rows.map(({ address }) => address))].map((address) =>
    toAttribution({ address, name: 'somebody', link: '', labels: [] }),
  );
  await replaceSources(database.pool, [{ ...source, attributions }]);
  await cluster(database, options);
  await replaceSources(database.pool, [{ ...source, attributions: [] }]);
  // The others are pending: a ring may be long.
  expect(await countTagged(database)).toBeGreaterThan(3);
  simulatedDag.reorganise();
  await follow(harness, database);
  await cluster(database, options);
  expect(await countTagged(database)).toBe(0);
  expect(await checkInvariant4(database.pool)).toEqual([]);
});

/** Tags some addresses, mostly with one name, with different confidences. */
function attributionsAt(step: number, addresses: readonly string[]): Attribution[] {
  return addresses.flatMap((address, place) => {
    if ((place * 7 + step) % 11 !== 0) return [];
    const name = (place + step) % 4 === 0 ? 'another' : 'somebody';
    const tag = { address, name, link: `https://example.org/${place % 5}`, labels: [`label ${place % 3}`] };
    return [{ ...toAttribution(tag), confidenceLevel: 10 * ((place + step) % 10) }];
  });
}

async function tagsOf({ pool }: TestDatabase): Promise<unknown> {
  return (await pool.query('select * from tags order by address')).rows;
}

/** Returns the named clusters, and those whose members' tags disagree. */
async function countNames({ pool }: TestDatabase): Promise<{ named: bigint; disputed: bigint }> {
  const { rows } = await pool.query<{ named: bigint; disputed: bigint }>(
    `select count(*) filter (where name is not null) as named,
            count(*) filter (where (select count(*) from cluster_names
              where cluster_id = id) > 1) as disputed
       from clusters`,
  );
  return rows[0] ?? { named: 0n, disputed: 0n };
}
