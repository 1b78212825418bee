import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addTagsOfMembers, moveClusterTags, resolveClusterTags, splitClusterTags } from './cluster-tags.ts';
import { insertCluster } from '../testing/insert-cluster.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

interface GivenTag {
  script: number;
  name: string;
  labels?: string[];
  link?: string;
  confidence?: number;
}

beforeEach(async () => {
  await database.pool.query(
    'truncate scripts, tags, tag_labels, clusters, cluster_members, cluster_names, cluster_labels, cluster_links, pending_tag_flags',
  );
  await database.pool.query(
    `insert into scripts select n, 0, decode(lpad(to_hex(n), 2, '0'), 'hex'), 'pubkey',
      'address ' || n from generate_series(1, 20) n`,
  );
});

async function insertTags(...tags: GivenTag[]): Promise<void> {
  for (const { script, name, labels = [], link = '', confidence = 50 } of tags) {
    await database.pool.query(
      'insert into tags (address, name, link, labels, confidence_level) values ($1, $2, $3, $4, $5)',
      [`address ${script}`, name, link, labels, confidence],
    );
  }
}

async function readCluster(id: bigint): Promise<unknown> {
  const { rows } = await database.pool.query('select name, link, labels from clusters where id = $1', [id]);
  return rows[0];
}

async function readNames(id: bigint): Promise<Record<string, bigint>> {
  const { rows } = await database.pool.query<{ name: string; addresses: bigint }>(
    'select name, addresses from cluster_names where cluster_id = $1 order by name',
    [id],
  );
  return Object.fromEntries(rows.map(({ name, addresses }) => [name, addresses]));
}

/** All counts, sorted. */
async function readCounts(): Promise<unknown[]> {
  const { rows } = await database.pool.query<Record<string, unknown>>(`
    select 'name' as of, cluster_id, name as value, addresses from cluster_names
    union all select 'label', cluster_id, label, addresses from cluster_labels
    union all select 'link ' || confidence_level, cluster_id, link, addresses from cluster_links
    order by 1, 2, 3`);
  return rows;
}

/** Roots of the clusters whose members' marks wait, since the last time. */
async function takeMarks(): Promise<bigint[]> {
  const { rows } = await database.pool.query<{ script_id: bigint }>(
    'delete from pending_tag_flags returning script_id',
  );
  return rows.map(({ script_id }) => script_id).sort((a, b) => Number(a - b));
}

/**
 * Puts one cluster, or a single script, below another by hand, as a merge does: their rings become
 * one.
 */
async function joinRings(root: bigint, other: bigint): Promise<void> {
  await database.pool.query(
    'insert into cluster_members (script_id, next_id, previous_id) values ($1, $1, $1) on conflict do nothing',
    [other],
  );
  await database.pool.query('update cluster_members set parent_id = $1 where script_id = $2', [root, other]);
  await swapNext(root, other);
  await database.pool.query('delete from clusters where id = $1', [other]);
}

/** Undone by the same: the ring falls in two where it was joined. */
async function swapNext(one: bigint, other: bigint): Promise<void> {
  await database.pool.query(
    `update cluster_members m set next_id = o.next_id from cluster_members o
      where (m.script_id, o.script_id) in (($1, $2), ($2, $1))`,
    [one, other],
  );
}

test('a cluster has the name of its members if they agree, with all labels and the link of the most confident tag', async () => {
  await insertTags(
    { script: 1, name: 'Pool', labels: ['pool', 'b'], link: 'https://low.example', confidence: 20 },
    { script: 2, name: 'Pool', labels: ['pool', 'B'], link: 'https://high.example', confidence: 80 },
    { script: 3, name: 'Pool', confidence: 100 },
  );
  await insertCluster(database.pool, [1n, 2n, 3n, 4n]);
  expect(await readCluster(1n)).toEqual({ name: 'Pool', link: 'https://high.example', labels: ['B', 'b', 'pool'] });
  expect(await readNames(1n)).toEqual({ Pool: 3n });
  expect(await takeMarks()).toEqual([1n]);
});

test('among links of equal confidence, that of most members wins, then the first by bytes', async () => {
  await insertTags(
    { script: 1, name: 'Pool', link: 'https://a.example' },
    { script: 2, name: 'Pool', link: 'https://b.example' },
    { script: 3, name: 'Pool', link: 'https://b.example' },
    { script: 4, name: 'Pool', link: 'https://b.example' },
    { script: 5, name: 'Pool', link: 'https://B.example' },
  );
  await insertCluster(database.pool, [1n, 2n, 3n]);
  expect(await readCluster(1n)).toMatchObject({ link: 'https://b.example' });
  await insertCluster(database.pool, [4n, 5n]);
  expect(await readCluster(4n)).toMatchObject({ link: 'https://B.example' });
});

test('members with different names give the cluster no name, until only one name is left', async () => {
  await insertTags(
    { script: 1, name: 'Pool', labels: ['pool'] },
    { script: 2, name: 'Exchange', labels: ['exchange'] },
  );
  await insertCluster(database.pool, [1n, 2n]);
  expect(await readCluster(1n)).toEqual({ name: null, link: '', labels: [] });
  expect(await readNames(1n)).toEqual({ Exchange: 1n, Pool: 1n });
  expect(await takeMarks()).toEqual([]);
});

test('a cluster without tags has no name and no flags', async () => {
  await insertCluster(database.pool, [1n, 2n]);
  expect(await readCluster(1n)).toEqual({ name: null, link: '', labels: [] });
  expect(await takeMarks()).toEqual([]);
});

test("a new member adds its tag, which may remove the cluster's name", async () => {
  await insertTags({ script: 1, name: 'Pool' }, { script: 3, name: 'Other' });
  await insertCluster(database.pool, [1n, 2n]);
  expect(await takeMarks()).toEqual([1n]);
  await joinRings(1n, 3n);
  await addTagsOfMembers(database.pool, { scriptIds: [3n], clusterIds: [1n] });
  expect(await readCluster(1n)).toMatchObject({ name: null });
  expect(await readNames(1n)).toEqual({ Other: 1n, Pool: 1n });
  expect(await takeMarks()).toEqual([1n]);
});

test('a merge adds up the counts, and a revert restores those of both clusters', async () => {
  await insertTags(
    { script: 1, name: 'Pool', labels: ['pool'], link: 'https://a.example' },
    { script: 4, name: 'Pool', labels: ['miner'], link: 'https://a.example' },
    { script: 5, name: 'Other', labels: ['pool'], link: 'https://c.example', confidence: 60 },
  );
  await insertCluster(database.pool, [1n, 2n, 3n]);
  await insertCluster(database.pool, [4n, 5n]);
  const before = await readCounts();
  await takeMarks();

  await joinRings(1n, 4n);
  await moveClusterTags(database.pool, 4n, 1n);
  expect(await readNames(1n)).toEqual({ Other: 1n, Pool: 2n });
  expect(await readNames(4n)).toEqual({});
  expect(await readCluster(1n)).toMatchObject({ name: null });
  expect(await takeMarks()).toEqual([1n]);

  await swapNext(1n, 4n);
  await database.pool.query('insert into clusters (id, size, balance) values (4, 2, 0)');
  await splitClusterTags(database.pool, 1n, 4n);
  expect(await readCounts()).toEqual(before);
  expect(await readCluster(1n)).toMatchObject({ name: 'Pool', labels: ['pool'] });
  expect(await readCluster(4n)).toMatchObject({ name: null });
  expect(await takeMarks()).toEqual([1n]);
});

test('it drops the counts of a single script and of a former cluster', async () => {
  await insertTags({ script: 1, name: 'Pool' }, { script: 2, name: 'Pool', labels: ['pool'] });
  await insertCluster(database.pool, [1n, 2n]);
  await database.pool.query('delete from cluster_members');
  await database.pool.query('delete from clusters');
  await splitClusterTags(database.pool, 1n, 2n);
  expect(await readCounts()).toEqual([]);
});

test('resolving again changes no row', async () => {
  await insertTags({ script: 1, name: 'Pool', labels: ['pool'], link: 'https://a.example' });
  await insertCluster(database.pool, [1n, 2n]);
  await takeMarks();
  const version = async (): Promise<unknown> =>
    (await database.pool.query('select xmin::text from clusters where id = 1')).rows;
  const before = await version();
  await resolveClusterTags(database.pool, [1n, 1n]);
  await resolveClusterTags(database.pool, []);
  expect(await version()).toEqual(before);
  expect(await takeMarks()).toEqual([]);
});

test('a tag that is of its address only names no cluster, and several spellings of one actor are one owner', async () => {
  await insertTags(
    { script: 1, name: 'Binance' },
    { script: 2, name: 'Binance.com' },
    { script: 3, name: 'A sanctioned address' },
  );
  await database.pool.query(`update tags set actor = 'binance' where address in ('address 1', 'address 2')`);
  await database.pool.query(`update tags set names_cluster = false where address = 'address 3'`);
  await insertCluster(database.pool, [1n, 2n, 3n]);
  const client = await database.pool.connect();
  try {
    expect(await readNames(1n)).toEqual({ Binance: 1n, 'Binance.com': 1n });
    expect(await readCluster(1n)).toMatchObject({ name: 'Binance' });
    await insertTags({ script: 4, name: 'Kraken' });
    await addTagsOfMembers(client, { scriptIds: [4n], clusterIds: [1n] });
    expect(await readCluster(1n)).toMatchObject({ name: null });
  } finally {
    client.release();
  }
});
