import { createKey, createTestDatabase, type TestDatabase } from '@kasgres/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ActiveWebhook, WebhookQueue } from './queue.ts';
import { WebhookStore } from './store.ts';

const [OLD, NEW] = ['ab', 'cd'].map((byte) => byte.repeat(32)) as [string, string];

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('it does not disable a webhook that was replayed since it was listed', async () => {
  const store = new WebhookStore(database.kysely);
  const queue = new WebhookQueue(database.kysely);
  const { id: keyId } = await createKey(database.kysely, { name: 'test' });
  const id = await store.create({
    keyId,
    url: 'https://example.org/',
    events: ['chain'],
    addresses: [],
    confirmations: undefined,
    withIds: false,
    cursor: OLD,
    secret: Buffer.alloc(60),
  });
  const [listed] = (await queue.listActive()) as [ActiveWebhook];
  await store.replay(keyId, id, NEW);
  expect(await queue.disable(listed, 'the cursor is unknown')).toBe(false);
  expect(await store.list(keyId, id)).toMatchObject([{ status: 'active', statusReason: null, cursor: NEW }]);

  const [current] = (await queue.listActive()) as [ActiveWebhook];
  expect(await queue.disable(current, 'the cursor is unknown')).toBe(true);
  expect(await store.list(keyId, id)).toMatchObject([{ status: 'disabled', statusReason: 'the cursor is unknown' }]);
  expect(await queue.listActive()).toEqual([]);
});
