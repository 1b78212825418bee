import { AddressError } from '@kasgres/kaspa';
import { sleep } from '@kasgres/runtime';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { replaceSources, toAttribution, upsertTags } from './tag-sources.ts';
import type { Attribution, SourceChanges, TagSource } from './attribution.ts';
import { findOwnTag } from './tags.ts';
import { insertCluster } from '../testing/insert-cluster.ts';
import { addressOf, insertScripts } from '../testing/known-addresses.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

beforeEach(async () => {
  await database.pool.query(
    `truncate checkpoint, scripts, balances, tags, tag_labels, tag_sources, attributions,
       clusters, cluster_members, cluster_names, cluster_labels, cluster_links, pending_tag_flags`,
  );
});

/** A source's attribution of the address with this number. */
function says(number: number, name: string, more: Partial<Attribution> = {}): Attribution {
  return { ...toAttribution({ address: addressOf(number), name, link: '', labels: [] }), ...more };
}

function sourceOf(name: string, attributions: Attribution[]): TagSource {
  return { name, title: `Title of ${name}`, creator: '', attributions };
}

async function replace(
  source: string,
  attributions: Attribution[],
  options: { dryRun?: boolean } = {},
): Promise<SourceChanges | undefined> {
  const [changes] = await replaceSources(database.pool, [sourceOf(source, attributions)], options);
  return changes;
}

async function nameOf(number: number): Promise<string | undefined> {
  return (await findOwnTag(database.kysely, addressOf(number)))?.name;
}

/** The scripts that are marked as tagged. */
async function readMarked(): Promise<number[]> {
  const { rows } = await database.pool.query<{ script_id: bigint }>(
    'select script_id from balances where is_tagged order by script_id',
  );
  return rows.map(({ script_id }) => Number(script_id));
}

async function readSources(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>('select name from tag_sources order by name');
  return rows.map(({ name }) => name);
}

/** Which rows of tags are which, so that one that was written over differs. */
async function readVersions(): Promise<unknown> {
  return (await database.pool.query('select address, xmin::text from tags order by address')).rows;
}

/** Everything that comes from sources, to be compared. */
async function readAll(): Promise<unknown> {
  const { rows } = await database.pool.query<Record<string, unknown>>(
    `select (select array_agg(t order by address) from tags t) as tags,
            (select array_agg(l order by label, address) from tag_labels l) as labels,
            (select array_agg((s.name, a.address, a.name, a.link, a.labels)
              order by s.name, a.address, a.name)
               from attributions a join tag_sources s on s.id = a.source_id) as said`,
  );
  return rows[0];
}

describe('a source', () => {
  test('a second import replaces the first, and counts new, changed, removed and unchanged tags', async () => {
    expect(await replace('file', [says(1, 'One'), says(2, 'Two'), says(3, 'Three')])).toEqual({
      source: 'file',
      new: 3,
      changed: 0,
      removed: 0,
      unchanged: 0,
    });
    const second = [says(1, 'One'), says(2, 'Two', { labels: ['pool'] }), says(4, 'Four'), says(3, 'Other')];
    expect(await replace('file', second)).toEqual({
      source: 'file',
      new: 2,
      changed: 1,
      removed: 1,
      unchanged: 1,
    });
    expect(await Promise.all([1, 2, 3, 4].map(nameOf))).toEqual(['One', 'Two', 'Other', 'Four']);
    expect(await findOwnTag(database.kysely, addressOf(2))).toMatchObject({ labels: ['pool'] });
  });

  test('an unchanged import changes no row of tags', async () => {
    const attributions = [
      says(1, 'One', { labels: ['b', 'a'], category: 'exchange', confidence: 'forensic', lastModified: '2026-01-31' }),
      says(2, 'Two', { link: 'https://example.org', confidenceLevel: 0 }),
    ];
    await replace('file', attributions);
    const before = await readVersions();
    expect(await replace('file', attributions)).toMatchObject({ new: 0, changed: 0, removed: 0, unchanged: 2 });
    expect(await readVersions()).toEqual(before);
  });

  test('does not change names of other sources', async () => {
    await replace('one', [says(1, 'One')]);
    await replace('two', [says(2, 'Two')]);
    expect(await replace('one', [says(3, 'Three')])).toMatchObject({ new: 1, removed: 1 });
    expect(await nameOf(2)).toBe('Two');
    expect(await readSources()).toEqual(['one', 'two']);
  });

  test('without tags is removed, with all its names', async () => {
    await replace('file', [says(1, 'One')]);
    expect(await replace('file', [])).toEqual({ source: 'file', new: 0, changed: 0, removed: 1, unchanged: 0 });
    expect(await readSources()).toEqual([]);
    expect(await nameOf(1)).toBeUndefined();
  });

  test('several sources are counted separately and written in one transaction', async () => {
    const changes = await replaceSources(database.pool, [
      sourceOf('one', [says(1, 'One')]),
      sourceOf('two', [says(1, 'One'), says(2, 'Two')]),
    ]);
    expect(changes).toMatchObject([
      { source: 'one', new: 1 },
      { source: 'two', new: 2 },
    ]);
    const before = await readAll();
    const bad = says(3, 'Three', { address: 'kaspasim:none' });
    await expect(
      replaceSources(database.pool, [sourceOf('one', [says(4, 'Four')]), sourceOf('three', [bad])]),
    ).rejects.toBeInstanceOf(AddressError);
    expect(await readAll()).toEqual(before);
    expect(await readSources()).toEqual(['one', 'two']);
  });

  test('in a dry run is counted but not written', async () => {
    await replace('file', [says(1, 'One')]);
    const before = await readAll();
    expect(await replace('file', [says(2, 'Two')], { dryRun: true })).toMatchObject({ new: 1, removed: 1 });
    expect(await readAll()).toEqual(before);
  });
});

describe('the winning name among several sources is', () => {
  test.each<[string, Partial<Attribution>, Partial<Attribution>]>([
    ['that with the most confidence', { confidenceLevel: 60 }, { confidenceLevel: 50, lastModified: '2026-01-31' }],
    ['then the latest', { lastModified: '2026-01-31' }, { lastModified: '2026-01-30' }],
    ['then what has a date', { lastModified: '2000-01-01' }, {}],
  ])('%s', async (_, better, worse) => {
    await replace('a', [says(1, 'Worse', worse)]);
    await replace('b', [says(1, 'Better', better)]);
    expect(await nameOf(1)).toBe('Better');
    await replace('b', []);
    expect(await nameOf(1)).toBe('Worse');
  });

  test('then that of the first source by bytes, then the first name', async () => {
    await replace('b', [says(1, 'Of b')]);
    await replace('B', [says(1, 'of B, second'), says(1, 'of B, first')]);
    expect(await nameOf(1)).toBe('of B, first');
  });
});

test('more rows than one statement takes are imported', async () => {
  const many = Array.from({ length: 45_000 }, (_, index) => says(index, `name ${index}`));
  const steps: [string, number][] = [];
  await replaceSources(database.pool, [{ name: 'many', title: '', creator: '', attributions: many }], {
    onProgress: (...step) => steps.push(step),
  });
  expect(await nameOf(44_999)).toBe('name 44999');
  expect(steps).toEqual([
    ['reading', 45_000],
    ['writing', 45_000],
  ]);
  const { rows } = await database.pool.query<{ count: bigint }>('select count(*) from tags');
  expect(rows).toEqual([{ count: 45_000n }]);
});

describe('tags that are written one by one', () => {
  test('replace the tag of their address, the last one wins, and others stay', async () => {
    const address = addressOf(1);
    const tag = { address, name: 'first', link: 'https://example.org', labels: ['pool', 'exchange'] };
    await upsertTags(database.pool, [tag, { ...tag, name: 'second' }, { ...tag, address: addressOf(2) }]);
    expect(await findOwnTag(database.kysely, address)).toEqual({ ...tag, name: 'second' });
    await upsertTags(database.pool, [{ ...tag, name: 'third', labels: [] }]);
    expect(await findOwnTag(database.kysely, address)).toEqual({ ...tag, name: 'third', labels: [] });
    expect(await nameOf(2)).toBe('first');
    expect(await nameOf(3)).toBeUndefined();
  });

  test('are all refused if one has no address', async () => {
    const tag = { name: 'a name', link: '', labels: [] };
    const tags = [
      { ...tag, address: addressOf(3) },
      { ...tag, address: 'kaspasim:none' },
    ];
    await expect(upsertTags(database.pool, tags)).rejects.toBeInstanceOf(AddressError);
    expect(await nameOf(3)).toBeUndefined();
  });
});

describe('the flag of scripts with a tag', () => {
  const tag = { name: 'a name', link: '', labels: [] };

  test('is set with the tag, for that address only', async () => {
    await insertScripts(database.pool, [501, 502, 503]);
    await upsertTags(database.pool, [
      { ...tag, address: addressOf(501) },
      { ...tag, address: addressOf(502, 'kaspa') },
    ]);
    expect(await readMarked()).toEqual([501]);
  });

  test('is cleared with the last source that names the address', async () => {
    await insertScripts(database.pool, [1, 2]);
    await replace('one', [says(1, 'One'), says(2, 'Two')]);
    await replace('two', [says(1, 'One')]);
    await replace('one', []);
    expect(await readMarked()).toEqual([1]);
    await replace('two', []);
    expect(await readMarked()).toEqual([]);
  });

  test('is set for a script that the indexer is writing', async () => {
    await whileIndexing(
      async (indexer) => await insertScripts(indexer, [504]),
      async () => await upsertTags(database.pool, [{ ...tag, address: addressOf(504) }]),
    );
    expect(await readMarked()).toEqual([504]);
  });
});

test('a cluster that the indexer is creating gets the name of its members', async () => {
  await insertScripts(database.pool, [1, 2]);
  await replace('before', [says(2, 'Old', { labels: ['old'] })]);
  await whileIndexing(
    async (indexer) => await insertCluster(indexer, [1n, 2n]),
    async () =>
      await replaceSources(database.pool, [
        sourceOf('before', []),
        sourceOf('after', [says(1, 'New'), says(2, 'New', { labels: ['new'] })]),
      ]),
  );
  expect(await readCluster()).toEqual({ name: 'New', labels: ['new'], names: { New: 2 } });
  expect(await readMarked()).toEqual([1, 2]);
});

test('two imports of one source take turns', async () => {
  const changes = await Promise.all([replace('file', [says(1, 'One')]), replace('file', [says(2, 'Two')])]);
  expect(new Set(changes.map((change) => change?.removed))).toEqual(new Set([0, 1]));
  expect([await nameOf(1), await nameOf(2)].filter((name) => name !== undefined)).toHaveLength(1);
});

test('a dry run does not wait for the indexer', async () => {
  const indexer = await lockAsIndexer();
  try {
    expect(await replace('file', [says(1, 'One')], { dryRun: true })).toMatchObject({ new: 1 });
  } finally {
    await indexer.query('rollback');
    indexer.release();
  }
});

/** In a transaction that has the lock of the checkpoint, of an index that has begun. */
async function lockAsIndexer(): Promise<PoolClient> {
  await database.pool.query(`insert into checkpoint values (true, 2, 1, 3, 1, 1, 2, 0, '{}', false, 0, null, now())`);
  const indexer = await database.pool.connect();
  await indexer.query('begin');
  await indexer.query('select from checkpoint for update');
  return indexer;
}

/** The import comes as far as it can before the indexer commits. */
async function whileIndexing(
  index: (indexer: PoolClient) => Promise<void>,
  runImport: () => Promise<unknown>,
): Promise<void> {
  const indexer = await lockAsIndexer();
  try {
    await index(indexer);
    const importing = runImport();
    await untilSomebodyWaits();
    await indexer.query('update checkpoint set block_id = 3');
    await indexer.query('commit');
    await importing;
  } finally {
    indexer.release();
  }
}

async function untilSomebodyWaits(): Promise<void> {
  for (;;) {
    const { rowCount } = await database.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rowCount === 1) return;
    await sleep(10);
  }
}

async function readCluster(): Promise<unknown> {
  const { rows } = await database.pool.query<{ name: string | null; labels: string[]; names: unknown }>(
    `select name, labels, (select json_object_agg(n.name, n.addresses) from cluster_names n
      where cluster_id = id) as names
       from clusters`,
  );
  return rows[0];
}

/** Whether the marks of a cluster's members wait for the indexer, since the last time. */
async function takeWaiting(): Promise<boolean> {
  return (await database.pool.query('delete from pending_tag_flags')).rowCount === 1;
}

describe('a cluster', () => {
  beforeEach(async () => {
    await insertScripts(database.pool, [1, 2, 3, 4, 5]);
    await insertCluster(database.pool, [1n, 2n, 3n]);
  });

  test('has the name of its members while they agree; changed flags are pending', async () => {
    await replace('one', [says(2, 'Pool', { labels: ['pool'] })]);
    expect(await readCluster()).toEqual({ name: 'Pool', labels: ['pool'], names: { Pool: 1 } });
    expect(await takeWaiting()).toBe(true);
    expect(await readMarked()).toEqual([2]);

    await replace('two', [says(3, 'Pool', { labels: ['miner'] })]);
    expect(await readCluster()).toEqual({ name: 'Pool', labels: ['miner', 'pool'], names: { Pool: 2 } });
    expect(await takeWaiting()).toBe(false);

    await replace('two', [says(3, 'Exchange')]);
    expect(await readCluster()).toEqual({ name: null, labels: [], names: { Exchange: 1, Pool: 1 } });
    expect(await takeWaiting()).toBe(true);
    expect(await nameOf(3)).toBe('Exchange');

    await replace('two', []);
    expect(await readCluster()).toEqual({ name: 'Pool', labels: ['pool'], names: { Pool: 1 } });
    expect(await takeWaiting()).toBe(true);
    await replace('one', []);
    expect(await readCluster()).toEqual({ name: null, labels: [], names: null });
    expect(await takeWaiting()).toBe(true);
  });

  test('keeps the flag of a member that loses its own tag while the cluster has a name', async () => {
    await replace('one', [says(1, 'Pool'), says(2, 'Pool')]);
    await replace('one', [says(1, 'Pool')]);
    expect(await readMarked()).toEqual([1, 2]);
  });

  test('does not change for tags of other scripts or of unseen addresses', async () => {
    await replace('one', [says(4, 'Alone'), says(999, 'Unseen')]);
    expect(await readCluster()).toMatchObject({ name: null, names: null });
    expect(await takeWaiting()).toBe(false);
    expect(await readMarked()).toEqual([4]);
    expect(await nameOf(999)).toBe('Unseen');
  });
});
