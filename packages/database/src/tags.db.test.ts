import { AddressError, type AddressPrefix, scriptToAddress } from '@kasgres/kaspa';
import { sleep } from '@kasgres/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findClusterTag, findOwnTag, listTagsOfScripts, upsertTags } from './tags.ts';
import { insertCluster } from './testing/insert-cluster.ts';
import { createTestDatabase, type TestDatabase } from './testing/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

/** The script of the public key that ends in this number. */
function scriptOf(number: number): Buffer {
  const script = Buffer.alloc(34);
  script[0] = 0x20;
  script.writeUInt32BE(number, 29);
  script[33] = 0xac;
  return script;
}

function addressOf(number: number, prefix: AddressPrefix = 'kaspasim'): string {
  return scriptToAddress({ version: 0, script: scriptOf(number) }, prefix) as string;
}

async function insertScript(client: Pick<TestDatabase['pool'], 'query'>, number: number): Promise<void> {
  const place = [number, scriptOf(number), addressOf(number)];
  await client.query(`insert into scripts values ($1, 0, $2, 'pubkey', $3)`, place);
  await client.query('insert into balances (script_id, balance) values ($1, 0)', [number]);
}

async function isTagged(number: number): Promise<boolean | undefined> {
  const { rows } = await database.pool.query<{ is_tagged: boolean }>(
    'select is_tagged from balances where script_id = $1',
    [number],
  );
  return rows[0]?.is_tagged;
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

test('tags are written, written over, and the last one for an address holds', async () => {
  const db = database.kysely;
  const address = addressOf(1);
  const tag = { address, name: 'first', link: 'https://example.org', labels: ['pool', 'exchange'] };
  await upsertTags(db, [tag, { ...tag, name: 'second' }]);
  expect(await findOwnTag(db, address)).toEqual({ ...tag, name: 'second' });
  await upsertTags(db, [{ ...tag, name: 'third', labels: [] }]);
  expect(await findOwnTag(db, address)).toEqual({ ...tag, name: 'third', labels: [] });
  expect(await findOwnTag(db, addressOf(2))).toBeUndefined();
});

test('of tags with one address that is none, nothing is written', async () => {
  const tag = { name: 'a name', link: '', labels: [] };
  const tags = [
    { ...tag, address: addressOf(3) },
    { ...tag, address: 'kaspasim:none' },
  ];
  await expect(upsertTags(database.kysely, tags)).rejects.toBeInstanceOf(AddressError);
  expect(await findOwnTag(database.kysely, addressOf(3))).toBeUndefined();
});

test('more tags than one statement can write', async () => {
  const tags = Array.from({ length: 12_000 }, (_, index) => {
    return { address: addressOf(1000 + index), name: `name ${index}`, link: '', labels: [] };
  });
  await upsertTags(database.kysely, tags);
  expect(await findOwnTag(database.kysely, addressOf(12_999))).toEqual(tags[11_999]);
});

describe('the mark of scripts with a tag', () => {
  const tag = { name: 'a name', link: '', labels: [] };

  test('comes with the tag, for that address alone', async () => {
    for (const number of [501, 502, 503]) await insertScript(database.pool, number);
    await upsertTags(database.kysely, [
      { ...tag, address: addressOf(501) },
      { ...tag, address: addressOf(502, 'kaspa') },
    ]);
    expect(await Promise.all([501, 502, 503].map(isTagged))).toEqual([true, false, false]);
  });

  test('comes to a script that the indexer is just writing', async () => {
    await database.pool.query(`insert into checkpoint values (true, 1, 0, 2, 1, 1, 2, 0, '{}', false, 0, null, now())`);
    const indexer = await database.pool.connect();
    try {
      await indexer.query('begin');
      await indexer.query('select from checkpoint for update');
      await insertScript(indexer, 504);
      const writing = upsertTags(database.kysely, [{ ...tag, address: addressOf(504) }]);
      await untilSomebodyWaits();
      await indexer.query('update checkpoint set block_id = 2');
      await indexer.query('commit');
      await writing;
      expect(await isTagged(504)).toBe(true);
    } finally {
      indexer.release();
    }
  });
});

test('a script has the tag of its cluster, where the cluster has a name', async () => {
  await database.pool.query(`
    insert into scripts values (1, 0, '\\x01', 'nonstandard', null), (2, 0, '\\x02', 'nonstandard', null),
      (3, 0, '\\x04', 'nonstandard', null), (4, 0, '\\x05', 'nonstandard', null)`);
  await insertCluster(database.pool, [3n, 1n], { name: 'A pool', link: '', labels: ['pool'] });
  await insertCluster(database.pool, [2n, 4n]);
  const find = (version: number, byte: number): ReturnType<typeof findClusterTag> =>
    findClusterTag(database.kysely, { version, script: Uint8Array.of(byte) });
  expect(await find(0, 1)).toEqual({ name: 'A pool', link: '', labels: ['pool'] });
  expect(await find(0, 2)).toBeUndefined();
  expect(await find(0, 3)).toBeUndefined();
  expect(await find(1, 1)).toBeUndefined();
});

test('of many scripts each has its own tag, else that of its cluster; those without a tag or an address are left out', async () => {
  await database.pool.query(
    `insert into scripts select 600 + n, 0, decode('06' || n, 'hex'), 'pubkey', a from unnest($1::int[], $2::text[]) given (n, a)`,
    [
      [10, 11, 12, 13, 14],
      [addressOf(610), addressOf(611), addressOf(612), addressOf(613), null],
    ],
  );
  await insertCluster(database.pool, [610n, 611n, 614n], {
    name: 'Miner',
    link: 'https://example.org',
    labels: ['miner'],
  });
  await insertCluster(database.pool, [613n, 615n]);
  const own = { address: addressOf(610), name: 'Own', link: '', labels: ['exchange', 'pool'] };
  await upsertTags(database.kysely, [own]);
  const ofCluster = { address: addressOf(611), name: 'Miner', link: 'https://example.org', labels: ['miner'] };
  expect(await listTagsOfScripts(database.kysely, [614n, 613n, 612n, 611n, 610n, 699n])).toEqual(
    new Map([
      [610n, own],
      [611n, ofCluster],
    ]),
  );
  expect(await listTagsOfScripts(database.kysely, [])).toEqual(new Map());
});
