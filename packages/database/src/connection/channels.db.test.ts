import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { listenTo, notifyStatement } from './channels.ts';

let database: TestDatabase;
let listener: Client;
const received: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  listener = new Client({ connectionString: database.url });
  await listener.connect();
  listener.on('notification', ({ channel }) => void received.push(channel));
});
afterAll(async () => {
  await listener.end();
  await database.drop();
});

test('a listener receives the notifications of its channels, and of no name that others can know', async () => {
  await listenTo(listener, 'commits');
  const { rows } = await database.pool.query<{ secret: string }>('select secret from notification_secret');
  expect(rows.map(({ secret }) => /^[0-9a-f]{32}$/.test(secret))).toEqual([true]);
  for (const channel of ['kasgres_commits', 'kasgres_commits_', 'kasgres_webhooks']) {
    await database.pool.query(`notify ${channel}`);
  }
  await database.pool.query(notifyStatement('webhooks'));
  await database.pool.query(notifyStatement('commits'));
  await expect.poll(() => received.length).toBeGreaterThan(0);
  expect(received).toEqual([`kasgres_commits_${rows[0]?.secret}`]);
});

test('it receives each of several channels', async () => {
  received.length = 0;
  await listenTo(listener, 'commits', 'webhooks');
  await database.pool.query(notifyStatement('webhooks'));
  await database.pool.query(notifyStatement('commits'));
  await expect.poll(() => received.length).toBe(2);
});
