import { createKey, type Database } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { Kysely, PostgresDialect } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ActiveWebhook, type PendingDelivery, WebhookQueue } from './queue.ts';
import { WebhookStore } from './store.ts';
import { newWebhook } from './testing/new-webhook.ts';

const [OLD, NEW] = ['ab', 'cd'].map((byte) => byte.repeat(32)) as [string, string];

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

afterEach(() => database.pool.query('truncate webhooks, webhook_deliveries'));

/** Creates webhooks at the block OLD. */
async function createWebhooks(count: number) {
  const store = new WebhookStore(database.kysely);
  const { id: keyId } = await createKey(database.kysely, { name: 'test' });
  const ids: bigint[] = [];
  for (let number = 0; number < count; number += 1) {
    const id = await store.create(newWebhook(keyId, OLD));
    ids.push(id);
  }
  return { store, keyId, ids, queue: new WebhookQueue(database.kysely) };
}

test('it does not disable a webhook that was replayed since it was listed', async () => {
  const { store, queue, keyId, ids } = await createWebhooks(1);
  const id = ids[0] as bigint;
  const [listed] = (await queue.listActive()) as [ActiveWebhook];
  await store.replay(keyId, id, () => NEW);
  expect(await queue.disable(listed, 'the cursor is unknown')).toBe(false);
  expect(await store.list(keyId, id)).toMatchObject([{ status: 'active', statusReason: null, cursor: NEW }]);

  const [current] = (await queue.listActive()) as [ActiveWebhook];
  expect(await queue.disable(current, 'the cursor is unknown')).toBe(true);
  expect(await store.list(keyId, id)).toMatchObject([{ status: 'disabled', statusReason: 'the cursor is unknown' }]);
  expect(await queue.listActive()).toEqual([]);
});

/** Finishes the oldest pending test. */
async function finishTest(queue: WebhookQueue, error: string | null): Promise<void> {
  const [listed] = await queue.listTests();
  const delivery = (await queue.findDelivery(listed?.id ?? 0n)) as PendingDelivery;
  await queue.finish(delivery, { statusCode: null, latencyMs: 1, error, retryAfterMs: undefined });
}

test('it adds no test to a webhook while one is pending', async () => {
  const { store, queue, keyId, ids } = await createWebhooks(2);
  const [id, other] = ids as [bigint, bigint];
  const addTest = (webhookId: bigint) => store.test(keyId, webhookId, () => '{}');
  const added = await Promise.all(Array.from({ length: 5 }, () => addTest(id)));
  expect(new Set(added).size).toBe(1);
  expect(await addTest(id)).toBe(added[0]);
  expect(await queue.listTests()).toEqual([{ id: added[0], webhookId: id, keyId }]);
  expect(await addTest(other)).not.toBe(added[0]);

  await finishTest(queue, 'no response');
  expect(await addTest(id)).not.toBe(added[0]);
  expect(await queue.listTests()).toHaveLength(2);
  expect(await store.test(keyId + 1n, id, () => '{}')).toBeUndefined();
});

test.each([null, 'no response'])(
  'it keeps 100 deliveries of a webhook that is only tested (error: %s)',
  async (error) => {
    const { store, queue, keyId, ids } = await createWebhooks(1);
    const id = ids[0] as bigint;
    await database.pool.query(
      "insert into webhook_deliveries (webhook_id, cursor, is_pending) select $1, '', false from generate_series(1, 150)",
      [id],
    );
    const tested = await store.test(keyId, id, () => '{}');
    await finishTest(queue, error);
    const { rows } = await database.pool.query('select id from webhook_deliveries order by id desc');
    expect(rows).toHaveLength(100);
    expect(rows[0]).toEqual({ id: tested });
  },
);

const largeBodyOf = (webhookId: bigint): string => String(webhookId % 10n).repeat(3 * 2 ** 20);

test('it stores large deliveries of many webhooks in statements of a few megabytes', async () => {
  const { ids } = await createWebhooks(8);
  const sizes: number[] = [];
  const measured = new Kysely<Database>({
    dialect: new PostgresDialect({ pool: database.pool }),
    log: ({ query }) => {
      sizes.push(Buffer.byteLength(query.parameters.map(String).join('')));
    },
  });
  const queue = new WebhookQueue(measured);
  const deliveries = (await queue.listActive()).map(({ id: webhookId, revision, sequence }) => ({
    webhookId,
    revision,
    sequence,
    previous: OLD,
    cursor: NEW,
    body: largeBodyOf(webhookId),
  }));
  await queue.addDeliveries(deliveries);
  expect(Math.max(...sizes)).toBeLessThan(9 * 2 ** 20);
  // Idempotent, as after a failure between two statements.
  await queue.addDeliveries(deliveries);
  const { rows } = await database.pool.query<{ id: bigint; body: string }>(
    'select webhook_id as id, body from webhook_deliveries order by webhook_id',
  );
  expect(rows.map(({ id }) => id)).toEqual(ids);
  expect(rows.every(({ id, body }) => body === largeBodyOf(id))).toBe(true);
});
