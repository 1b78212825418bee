/**
 * Sessions of other programs whose connection falls silent, behind a proxy that keeps it open at
 * the server, give up their locks.
 */
import {
  type Connection,
  connect,
  isDatabaseUnavailable,
  migrate,
  rejectHeldMerges,
  replaceSources,
} from '@kasgres/database';
import { createTestDatabase, TcpProxy } from '@kasgres/database/testing';
import { backfillInscriptions } from '@kasgres/state';
import { expect, test } from 'vitest';

test.concurrent('a migration ends, and others do not wait for its lock', async () => {
  const database = await createTestDatabase({ empty: true });
  const proxy = await TcpProxy.start(database.url, 'server_encoding');
  await expect(migrate(proxy.url)).rejects.toSatisfy(isDatabaseUnavailable);
  expect(await migrate(database.url)).not.toEqual([]);
  proxy.stop();
  await database.drop();
});

/** With the statement that each sends when it has locked the checkpoint. */
const HOLDERS: [string, string, (database: Connection) => Promise<unknown>][] = [
  [
    'an import of tags',
    'insert into retagged_scripts',
    ({ pool }) => replaceSources(pool, [{ name: 'file', title: '', creator: '', attributions: [] }]),
  ],
  ['a review of clusters', 'update held_merges', ({ kysely }) => rejectHeldMerges(kysely, new Uint8Array(32))],
  [
    'a look for inscriptions to decode again',
    'inscription_decoders',
    async ({ pool }) => {
      const client = await pool.connect();
      await backfillInscriptions(client).finally(() => client.release(true));
    },
  ],
];

test.concurrent.each(HOLDERS)('batches do not wait for %s', async (_, statement, hold) => {
  const database = await createTestDatabase();
  await database.pool.query(`insert into checkpoint values (true, 2, 1, 3, 1, 1, 2, 0, '{}', false, 0, null, now())`);
  const proxy = await TcpProxy.start(database.url, statement);
  const lost = connect({ url: proxy.url, applicationName: 'lost', askAfterSilenceMs: 300 });
  await expect(hold(lost)).rejects.toSatisfy(isDatabaseUnavailable);
  expect((await database.pool.query('select from checkpoint for update')).rowCount).toBe(1);
  await lost.close();
  proxy.stop();
  await database.drop();
});
