/**
 * Two operations on one webhook at the same time leave what one of them after the other would have
 * left.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ActiveWebhook, type PendingDelivery, WebhookQueue } from './queue.ts';
import { type Webhook, type WebhookChanges, WebhookStore } from './store.ts';
import { newWebhook } from './testing/new-webhook.ts';

const [OLD, NEXT, REPLAYED, OTHER] = ['ab', 'cd', 'ef', '12'].map((byte) => byte.repeat(32)) as [
  string,
  string,
  string,
  string,
];

let database: TestDatabase;
let store: WebhookStore;
let queue: WebhookQueue;
let keyId: bigint;

beforeAll(async () => {
  database = await createTestDatabase();
  store = new WebhookStore(database.kysely);
  queue = new WebhookQueue(database.kysely);
});
afterAll(() => database.drop());

/** A webhook with what the deliverer has read of it before both operations. */
interface Listed {
  id: bigint;
  webhook: ActiveWebhook;
  delivery: PendingDelivery | undefined;
}

type Operation = (listed: Listed) => Promise<unknown>;

const outcomeOf = (statusCode: number) => ({
  statusCode,
  latencyMs: 0,
  error: statusCode < 300 ? null : `the receiver responded ${statusCode}`,
  retryAfterMs: undefined,
});

const finish =
  (statusCode: number): Operation =>
  async ({ delivery }) =>
    delivery && (await queue.finish(delivery, outcomeOf(statusCode)));

const add: Operation = async ({ webhook: { id: webhookId, revision, sequence } }) =>
  queue.addDeliveries([{ webhookId, revision, sequence, previous: OLD, cursor: NEXT, body: 'body' }]);

/** Watches these unless it watches others. */
const watch =
  (changes: WebhookChanges, othersOf: (webhook: Webhook) => string[]): Operation =>
  async ({ id }) =>
    store.update(keyId, id, (webhook) => (othersOf(webhook).length > 0 ? {} : changes));

const OPERATIONS: Record<string, Operation> = {
  add,
  move: async ({ webhook }) => queue.moveCursors([webhook], OLD, OTHER),
  disable: async ({ webhook }) => queue.disable(webhook, 'the cursor is unknown'),
  'finish after a success': finish(204),
  'finish after a failure': finish(500),
  'finish after a 410': finish(410),
  replay: async ({ id }) => store.replay(keyId, id, () => REPLAYED),
  patch: async ({ id }) => store.update(keyId, id, () => ({ url: 'https://example.org/other' })),
  'patch that disables': async ({ id }) => store.update(keyId, id, () => ({ status: 'disabled' })),
  'patch of addresses': watch({ addresses: ['kaspasim:one'] }, ({ covenants }) => covenants),
  'patch of covenants': watch({ covenants: [OTHER] }, ({ addresses }) => addresses),
  rotate: async ({ id }) => store.rotate(keyId, id, Buffer.alloc(60, 1)),
  delete: async ({ id }) => store.delete(keyId, id),
};

async function prepare(isPending: boolean): Promise<Listed> {
  // A key has few webhooks.
  ({ id: keyId } = await createKey(database.kysely, { name: 'test' }));
  const id = await store.create(newWebhook(keyId, OLD));
  const find = async (): Promise<ActiveWebhook> =>
    (await queue.listActive()).find((one) => one.id === id) as ActiveWebhook;
  const webhook = await find();
  if (!isPending) return { id, webhook, delivery: undefined };
  await add({ id, webhook, delivery: undefined });
  const { deliveryId } = await find();
  return { id, webhook, delivery: await queue.findDelivery(deliveryId ?? 0n) };
}

/** The rows that are left, without ids and times. Also deliveries of a webhook that is deleted. */
async function stateOf(id: bigint): Promise<string> {
  const { rows: webhooks } = await database.pool.query(
    `select encode(cursor, 'hex') as cursor, sequence, revision, status, failures,
      pause_ms > 0 as is_paused, url, addresses, covenants, encode(secret, 'hex') as secret
     from webhooks where id = $1`,
    [id],
  );
  const { rows: deliveries } = await database.pool.query(
    `select sequence, encode(cursor, 'hex') as cursor, is_pending, attempts, error, body,
      delivered_at is not null as is_delivered
     from webhook_deliveries where webhook_id = $1 order by id`,
    [id],
  );
  return JSON.stringify({ webhooks, deliveries }, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

async function runInTurn(isPending: boolean, ...operations: readonly Operation[]): Promise<string> {
  const listed = await prepare(isPending);
  for (const operation of operations) await operation(listed);
  return stateOf(listed.id);
}

/** Begins both while the row is locked, one after the other, and lets them continue together. */
async function runTogether(isPending: boolean, first: Operation, second: Operation): Promise<string> {
  const listed = await prepare(isPending);
  const holder = await database.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select from webhooks where id = $1 for update', [listed.id]);
    const running: Promise<unknown>[] = [];
    let ended = 0;
    for (const operation of [first, second]) {
      running.push(operation(listed).finally(() => (ended += 1)));
      await untilBlocked(() => running.length - ended);
    }
    await holder.query('commit');
    await Promise.all(running);
  } finally {
    holder.release();
  }
  return stateOf(listed.id);
}

/** Resolves when so many statements wait for a lock. */
async function untilBlocked(expected: () => number): Promise<void> {
  for (let blocked = -1; blocked < expected(); await sleep(1)) {
    const { rows } = await database.pool.query<{ blocked: number }>(
      "select count(*)::integer as blocked from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    blocked = rows[0]?.blocked ?? 0;
  }
}

const listOf = (isPending: boolean): string[] =>
  Object.keys(OPERATIONS).filter((name) => isPending || !name.startsWith('finish'));

const PAIRS = [false, true].flatMap((isPending) =>
  listOf(isPending).map((name, position, names): [string, boolean, string[]] => [
    name,
    isPending,
    names.slice(position),
  ]),
);

test.each(PAIRS)('%s and another operation, with a delivery: %s', async (name, isPending, others) => {
  const one = OPERATIONS[name] as Operation;
  for (const other of others) {
    const two = OPERATIONS[other] as Operation;
    const inTurn = [await runInTurn(isPending, one, two), await runInTurn(isPending, two, one)];
    expect(inTurn, `${name}, ${other}`).toContain(await runTogether(isPending, one, two));
    expect(inTurn, `${other}, ${name}`).toContain(await runTogether(isPending, two, one));
  }
});

test('deliveries of a deleted webhook do not stay', async () => {
  const { rows } = await database.pool.query(
    'select d.id from webhook_deliveries d where not exists (select from webhooks w where w.id = d.webhook_id)',
  );
  expect(rows).toEqual([]);
});

test('a failure of what its owner has changed since does not disable a webhook', async () => {
  const listed = await prepare(true);
  await store.update(keyId, listed.id, () => ({ url: 'https://example.org/other' }));
  expect(await finish(410)(listed)).toBeNull();
  expect(await store.list(keyId, listed.id)).toMatchObject([{ status: 'active', failures: 0 }]);
});

test('hours in which nobody tried do not count as failing, and 72 hours of attempts and pauses do', async () => {
  const listed = await prepare(true);
  const setFailing = (text: string) => database.pool.query(`update webhooks set ${text} where id = $1`, [listed.id]);
  await setFailing("failures = 5, failing_since = now() - interval '73 hours', failing_ms = 5000");
  expect(await finish(500)(listed)).toBeNull();
  const hours71 = 71 * 3_600_000;
  await setFailing(`failing_ms = ${hours71}, pause_ms = 900000`);
  expect(await finish(500)(listed)).toBeNull();
  await setFailing(`pause_ms = 3600000`);
  expect(await finish(500)(listed)).toBe('no delivery succeeded for 72 hours');
});

test('a delivery after a success has no pause, and no pause is longer than it was set, by any clock', async () => {
  const dueInMs = async (id: bigint) => (await queue.listActive()).find((webhook) => webhook.id === id)?.dueInMs;
  const { id } = await prepare(true);
  expect(await dueInMs(id)).toBe(0);
  // The clock was set back by an hour since the failure.
  await database.pool.query(
    "update webhooks set next_attempt_at = now() + interval '1 hour', pause_ms = 2000 where id = $1",
    [id],
  );
  expect(await dueInMs(id)).toBe(2000);
  await database.pool.query("update webhooks set previous_secret_until = now() + interval '30 hours' where id = $1", [
    id,
  ]);
  await queue.limitPreviousSecrets();
  const { rows } = await database.pool.query(
    "select previous_secret_until <= now() + interval '24 hours' as is_limited from webhooks where id = $1",
    [id],
  );
  expect(rows).toEqual([{ is_limited: true }]);
});
