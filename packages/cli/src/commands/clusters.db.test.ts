import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase, insertCluster, type TestDatabase } from '@kasgres/database/testing';
import { addressToScript, scriptToAddress } from '@kasgres/kaspa';
import { afterAll, beforeAll, expect, test } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../bin/kasgres.js', import.meta.url));
const ADDRESSES = [1, 2, 3, 4].map((byte) => {
  const script = Buffer.concat([Uint8Array.of(0x20), Buffer.alloc(32, byte), Uint8Array.of(0xac)]);
  return scriptToAddress({ version: 0, script }, 'kaspasim') ?? '';
});
const [FIRST = '', SECOND = '', , ALONE = ''] = ADDRESSES;
const TRANSACTION = 'ab'.repeat(32);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  await pool.query(
    `insert into scripts (id, version, script, type, address)
     select id, 0, script, 'pubkey', address
       from unnest($1::bigint[], $2::bytea[], $3::text[]) s (id, script, address)`,
    [[1, 2, 3, 4], ADDRESSES.map((address) => Buffer.from(addressToScript(address).script)), ADDRESSES],
  );
  await insertCluster(pool, [1n, 2n]);
  await pool.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
     values (7, $1, '', 0, 0, 0, 0, '', 0, 0, 0)`,
    [Buffer.from(TRANSACTION, 'hex')],
  );
  await pool.query(`insert into held_merges values (1, 5, 7, 2, 3, 'held')`);
});
afterAll(async () => await database.drop());

async function clusters(...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: database.url };
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, 'clusters', ...args], { env });
  return stdout.trim();
}

async function states(): Promise<string[]> {
  const { rows } = await database.pool.query<{ state: string }>('select state from held_merges order by id');
  return rows.map(({ state }) => state);
}

test('it lists held merges by their larger cluster, with a transaction to look at', async () => {
  expect(await clusters('review')).toMatch(new RegExp(`${FIRST} +2 +as configured +1 +3 +${TRANSACTION}`, 'u'));
});

test('it lets a cluster grow by any of its addresses, to the needed size by default', async () => {
  expect(await clusters('approve', SECOND)).toContain(
    '2 addresses and a limit of 3 now. Held merges that the indexer will try: 1',
  );
  expect(await states()).toEqual(['approved']);
  expect(await clusters('review')).toBe('No merge is held.');
  expect(await clusters('approve', FIRST, '--up-to', '500')).toContain('a limit of 500');
});

test('it rejects a transaction that was approved and not carried out yet', async () => {
  expect(await clusters('reject', TRANSACTION)).toBe('Rejected merges: 1.');
  expect(await states()).toEqual(['rejected']);
});

test.each([
  [['approve', ALONE], 'is in no cluster'],
  [['approve', 'kaspasim:x'], 'an address with its prefix'],
  [['approve', FIRST, '--up-to', '0'], 'a number of addresses'],
  [['reject', TRANSACTION], 'No merge is held because of this transaction'],
  [['reject', 'ab'], '64 hex digits'],
])('it rejects %j with an explanation', async (args, words) => {
  await expect(clusters(...args)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(words) as string });
});

test('it explains the limit in --help', async () => {
  expect(await clusters('--help')).toContain('two owners mistaken for one');
});
