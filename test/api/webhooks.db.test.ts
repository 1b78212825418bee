/** Webhooks: exact, in order and at least once, with a receiver and a deliverer that fail. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey, revokeKey } from '@kasgres/database';
import { decodeAddress, encodeAddress } from '@kasgres/kaspa';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import { type Program, startProgram } from '../support/programs.ts';
import { StreamFollower } from '../support/stream-follower.ts';
import { type Behaviour, WebhookReceiver } from '../support/webhook-receiver.ts';
import { type Harness, openHarness } from './harness.ts';

const SECRET_KEY = randomBytes(32).toString('base64');
const variables = { WEBHOOK_SECRET_KEY: SECRET_KEY, WEBHOOK_ALLOW: '127.0.0.0/8' };

let harness: Harness;
let programs: Program[] = [];
let receivers: WebhookReceiver[] = [];

beforeAll(async () => {
  harness = await openHarness({ rounds: 80, seed: 'webhooks', variables });
  await harness.atRest();
});
afterEach(async () => {
  for (const program of programs) await program.stop();
  for (const receiver of receivers) await receiver.stop();
  expect(receivers.flatMap(({ faults }) => faults)).toEqual([]);
  programs = [];
  receivers = [];
  await harness.database.pool.query('truncate webhooks, webhook_deliveries');
});
afterAll(() => harness.close());

/** Checks each response against openapi.json. */
const checked = (key = harness.api.key): ApiClient => new ApiClient(harness.api.url, key, { checked: true });

function startDeliverer(more: Record<string, string> = {}): Program {
  const env = { nodeUrl: '', databaseUrl: harness.database.url };
  const program = startProgram('../../packages/webhooks/src/main.ts', env, { ...variables, ...more });
  programs.push(program);
  return program;
}

async function startReceiver(): Promise<WebhookReceiver> {
  const receiver = new WebhookReceiver();
  await receiver.start();
  receivers.push(receiver);
  return receiver;
}

async function register(receiver: WebhookReceiver, body: object = {}): Promise<string> {
  const { status, json } = await checked().post('/v1/webhooks', { url: receiver.url, ...body });
  expect(status, JSON.stringify(json)).toBe(200);
  receiver.secret = json['secret'] as string;
  return json['id'] as string;
}

const read = async (id: string) => (await checked().get(`/v1/webhooks/${id}`)).json;
const sinkOf = async () => (await harness.api.get('/v1/rpc/getSink')).json['sink'] as string;
const untilAtSink = async (id: string, timeout = 60_000) => {
  const sink = await sinkOf();
  await expect.poll(async () => (await read(id))['cursor'], { timeout, interval: 100 }).toBe(sink);
};

const request = (method: string, path: string, body?: object, key = harness.api.key) =>
  checked(key).request(path, { method, body });

async function listBalances(limit: number): Promise<Map<string, bigint>> {
  const { rows } = await harness.database.pool.query<{ address: string; balance: bigint }>(
    'select address, balance from balances join scripts on id = script_id where address is not null order by transaction_count desc limit $1',
    [limit],
  );
  return new Map(rows.map(({ address, balance }) => [address, balance]));
}

async function listChain() {
  const { rows } = await harness.database.pool.query<{ hash: string; ids: string[] }>(
    `select encode(c.hash, 'hex') as hash, array(
       select encode(t.transaction_id, 'hex')
         from unnest(c.accepted_transactions) with ordinality a (id, n)
           join transactions t on t.id = a.id order by n) as ids
     from chain_blocks c order by c.index`,
  );
  return rows;
}

test('a receiver that fails, hangs and restarts gets every step exactly, while the deliverer is killed', async () => {
  const balances = await listBalances(8);
  const before = (await listChain()).map(({ hash }) => hash);
  const receiver = await startReceiver();
  const behaviours: Behaviour[] = ['confirm', 'confirm', 'confirm', 'lose', 'confirm', 'refuse', 'confirm', 'confirm'];
  let requests = 0;
  receiver.behave = () => behaviours[(requests += 1) % behaviours.length] ?? 'confirm';
  const id = await register(receiver, {
    events: ['chain'],
    addresses: [...balances.keys()],
    confirmations: 5,
    include: 'accepted_ids',
  });
  let deliverer = startDeliverer();
  for (let round = 0; round < 12; round += 1) {
    harness.simulatedDag.mine(1 + (round % 4));
    if (round % 3 === 1) harness.simulatedDag.reorganise();
    await sleep(200 + Math.random() * 300);
    if (round === 4) await receiver.stop();
    if (round === 6) await receiver.start();
    if (round === 7) {
      await deliverer.kill();
      deliverer = startDeliverer();
    }
  }
  await harness.atRest();
  await untilAtSink(id);

  expect(receiver.faults).toEqual([]);
  const follower = new StreamFollower(before, balances);
  for (const { events, cursor } of receiver.received) follower.apply({ events, cursor });
  expect(follower.faults).toEqual([]);
  const expected = await listChain();
  expect(follower.chain).toEqual(expected.map(({ hash }) => hash));
  for (const { hash, ids } of expected) if (!before.includes(hash)) expect(follower.accepted.get(hash)).toEqual(ids);
  const now = await listBalances(1000);
  for (const [address, balance] of follower.balances) expect(balance, address).toBe(now.get(address));
  expect(follower.removedBlocks).toBeGreaterThan(0);
  expect(follower.confirmed.size).toBeGreaterThan(0);
  // In order, without a number left out.
  const numbers = receiver.received.map((one) => Number(one.id.split('_').at(-1)));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  const { deliveries } = (await checked().get(`/v1/webhooks/${id}/deliveries?limit=100`)).json;
  const outcomes = new Set((deliveries as { status: string }[]).map(({ status }) => status));
  expect(outcomes).toEqual(new Set(['delivered']));
  expect((deliveries as { attempts: number }[]).some(({ attempts }) => attempts > 1)).toBe(true);
}, 180_000);

test('it delivers only the steps that concern the addresses, and moves the cursor with the others', async () => {
  const receiver = await startReceiver();
  const [address] = [...(await listBalances(1)).keys()];
  const quiet = await startReceiver();
  const quietId = await register(quiet, { events: ['address'], addresses: [unusedAddress(String(address))] });
  const id = await register(receiver, { events: ['address'], addresses: [address] });
  startDeliverer();
  harness.simulatedDag.mine(15);
  await harness.atRest();
  await untilAtSink(id);
  await untilAtSink(quietId);
  expect(quiet.requests).toBe(0);
  expect(receiver.received.flatMap(({ events }) => events).every(({ event }) => event === 'address')).toBe(true);
}, 60_000);

/** An address of this network that was never seen. */
function unusedAddress(known: string): string {
  const { prefix, version } = decodeAddress(known);
  return encodeAddress({ prefix, version, payload: randomBytes(32) });
}

test('a secret that is replaced signs together with the one before, and a test is delivered at once', async () => {
  const receiver = await startReceiver();
  const id = await register(receiver);
  startDeliverer();
  const first = receiver.secret;
  const rotated = await request('POST', `/v1/webhooks/${id}/secret`);
  expect(rotated.json['secret']).not.toBe(first);
  const tested = await request('POST', `/v1/webhooks/${id}/test`);
  expect(tested.status).toBe(200);
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(1);
  expect(receiver.received[0]).toMatchObject({ type: 'kasgres.test', events: [] });
  expect(String(receiver.lastHeaders['webhook-signature']).split(' ')).toHaveLength(2);
  expect(receiver.faults).toEqual([]);
  // Another test while one is pending would be the same one.
  const deliveries = async () => (await checked().get(`/v1/webhooks/${id}/deliveries`)).json['deliveries'];
  await expect.poll(deliveries, { timeout: 20_000 }).toMatchObject([{ status: 'delivered' }]);
  receiver.secret = rotated.json['secret'] as string;
  await request('POST', `/v1/webhooks/${id}/test`);
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(2);
  expect(receiver.faults).toEqual([]);
  await expect.poll(deliveries, { timeout: 20_000 }).toMatchObject([
    { sequence: null, status: 'delivered', attempts: 1, statusCode: 204, error: null },
    { id: tested.json['deliveryId'], status: 'delivered' },
  ]);
}, 60_000);

test('410 disables a webhook, which keeps its cursor and continues when it is activated', async () => {
  const receiver = await startReceiver();
  receiver.behave = () => ({ status: 410 });
  const id = await register(receiver);
  const { cursor } = await read(id);
  startDeliverer();
  harness.simulatedDag.mine(3);
  await harness.atRest();
  await expect
    .poll(() => read(id), { timeout: 20_000 })
    .toMatchObject({ status: 'disabled', statusReason: 'the receiver responded 410', cursor });
  receiver.behave = () => 'confirm';
  harness.simulatedDag.mine(3);
  await harness.atRest();
  const activated = await request('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
  expect(activated.json).toMatchObject({ status: 'active', statusReason: null, failures: 0 });
  await untilAtSink(id);
  expect(receiver.received[0]?.previous).toBe(cursor);
}, 60_000);

test('retry-after is obeyed, failures are visible, and redirects are not followed', async () => {
  const receiver = await startReceiver();
  receiver.behave = () => ({ status: 302, headers: { location: receiver.url, 'retry-after': '600' } });
  const id = await register(receiver);
  startDeliverer();
  harness.simulatedDag.mine(2);
  await harness.atRest();
  await expect.poll(async () => (await read(id))['failures'], { timeout: 20_000 }).toBe(1);
  const { nextAttemptAt, failingSince } = await read(id);
  expect(Number(nextAttemptAt) - Date.now()).toBeGreaterThan(500_000);
  expect(failingSince).toEqual(expect.any(Number));
  expect(receiver.requests).toBe(1);
  const { deliveries } = (await checked().get(`/v1/webhooks/${id}/deliveries`)).json;
  expect(deliveries).toMatchObject([
    {
      status: 'pending',
      attempts: 1,
      statusCode: 302,
      error: 'the receiver responded 302',
    },
  ]);
}, 60_000);

test('a replay continues from another block, and does not use a number again', async () => {
  const receiver = await startReceiver();
  receiver.behave = () => ({ status: 500, headers: { 'retry-after': '600' } });
  const from = await sinkOf();
  const id = await register(receiver);
  startDeliverer();
  harness.simulatedDag.mine(2);
  await harness.atRest();
  await expect.poll(async () => (await read(id))['failures'], { timeout: 20_000 }).toBe(1);
  receiver.behave = () => 'confirm';
  const { status, json } = await request('POST', `/v1/webhooks/${id}/replay`, { from });
  expect([status, json['cursor'], json['sequence']]).toEqual([200, from, '1']);
  await untilAtSink(id);
  expect(receiver.received[0]?.id).toBe(`msg_${id}_2`);
  expect(receiver.received[0]?.previous).toBe(from);
}, 60_000);

test('without WEBHOOK_ALLOW the deliverer refuses a private address, at every attempt', async () => {
  const receiver = await startReceiver();
  const id = await register(receiver);
  startDeliverer({ WEBHOOK_ALLOW: '' });
  // Two rounds may add only blocks beside the chain.
  harness.simulatedDag.mine(8);
  await harness.atRest();
  await expect.poll(async () => (await read(id))['failures'], { timeout: 20_000 }).toBeGreaterThan(0);
  const { deliveries } = (await checked().get(`/v1/webhooks/${id}/deliveries`)).json;
  expect(deliveries).toMatchObject([{ statusCode: null, error: 'must begin with https://' }]);
  expect(receiver.requests).toBe(0);
}, 60_000);

const isLeading = (program: Program): boolean => program.output().includes('delivering to webhooks');

test('two deliverers do not deliver twice, and the second takes over', async () => {
  const receiver = await startReceiver();
  const id = await register(receiver);
  const [first, second] = [startDeliverer(), startDeliverer()];
  harness.simulatedDag.mine(5);
  await harness.atRest();
  await untilAtSink(id);
  expect(receiver.requests).toBe(receiver.received.length);
  expect([first, second].filter(isLeading)).toHaveLength(1);
  await (isLeading(first) ? first : second).kill();
  harness.simulatedDag.mine(5);
  await harness.atRest();
  await untilAtSink(id);
}, 60_000);

test('a webhook belongs to its key, and a revoked key gets no deliveries', async () => {
  const other = await createKey(harness.database.kysely, { name: 'other', rateRu: 500 });
  const client = checked(other.key);
  const receiver = await startReceiver();
  const id = await register(receiver);
  for (const path of [`/v1/webhooks/${id}`, `/v1/webhooks/${id}/deliveries`])
    expect((await client.get(path)).status).toBe(404);
  for (const [method, path, body] of [
    ['PATCH', '', { status: 'disabled' }],
    ['DELETE', ''],
    ['POST', '/secret'],
    ['POST', '/test'],
    ['POST', '/replay', { from: await sinkOf() }],
  ] as const) {
    const { status } = await request(method, `/v1/webhooks/${id}${path}`, body, other.key);
    expect(status, `${method} ${path}`).toBe(404);
  }
  expect((await client.get('/v1/webhooks')).json).toEqual({ webhooks: [] });
  expect((await checked().get('/v1/webhooks')).json['webhooks']).toMatchObject([
    { id, url: receiver.url, events: ['chain'], addresses: [], status: 'active', sequence: '0' },
  ]);
  const theirs = await startReceiver();
  const created = await client.post('/v1/webhooks', { url: theirs.url });
  expect(created.status).toBe(200);
  await revokeKey(harness.database.kysely, other.id);
  startDeliverer();
  harness.simulatedDag.mine(3);
  await harness.atRest();
  await untilAtSink(id);
  expect(theirs.requests).toBe(0);
  expect((await request('DELETE', `/v1/webhooks/${id}`)).json).toEqual({ id });
  expect((await checked().get(`/v1/webhooks/${id}`)).status).toBe(404);
}, 60_000);

test('it refuses what it cannot deliver, naming the field', async () => {
  const cases: [object, string][] = [
    [{ url: 'not a URL' }, 'url'],
    [{ url: 'ftp://example.org/' }, 'url'],
    [{ url: 'https://user:password@example.org/' }, 'url'],
    [{ url: 'https://example.org:22/' }, 'url'],
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: 'https://[::1]/' }, 'url'],
    [{ url: 'https://[64:ff9b::a9fe:a9fe]/' }, 'url'],
    [{ url: 'https://example.org/', events: ['mempool'] }, 'events.0'],
    [{ url: 'https://example.org/', events: ['address'] }, 'addresses'],
    [{ url: 'https://example.org/', addresses: ['kaspa:wrong'] }, 'addresses.0'],
    [{ url: 'https://example.org/', confirmations: 0 }, 'confirmations'],
    [{}, 'url'],
  ];
  for (const [body, path] of cases) {
    const { status, json } = await checked().post('/v1/webhooks', body);
    expect([status, (json['details'] as { path: string }[] | undefined)?.[0]?.path], JSON.stringify(body)).toEqual([
      400,
      path,
    ]);
  }
  const unknown = await checked().post('/v1/webhooks', { url: 'https://example.org/', from: 'ab'.repeat(32) });
  expect(unknown.status).toBe(404);
  expect((await request('POST', '/v1/webhooks', { url: 'https://example.org/' }, 'wrong')).status).toBe(401);
}, 60_000);

test('a change is refused with the name of its field, and the kinds of events follow from it', async () => {
  const [covenant, template] = ['ab'.repeat(32), 'cd'.repeat(32)];
  const [address] = [...(await listBalances(1)).keys()];
  const { json } = await checked().post('/v1/webhooks', { url: 'https://example.org/', template });
  const path = `/v1/webhooks/${String(json['id'])}`;
  const patch = async (body: object) => {
    const { status, json: changed } = await request('PATCH', path, body);
    return [status, (changed['details'] as { path: string }[] | undefined)?.[0]?.path ?? changed['events']];
  };
  expect(await patch({ covenants: [covenant] })).toEqual([400, 'covenants']);
  expect(await patch({ covenants: [covenant], template: null, addresses: [address] })).toEqual([
    200,
    ['chain', 'covenant', 'address'],
  ]);
  expect(await patch({ template })).toEqual([400, 'template']);
}, 60_000);

/** Sends a body as it is. */
async function send(method: string, path: string, body: string) {
  const headers = { 'x-api-key': harness.api.key, 'content-type': 'application/json' };
  const response = await fetch(`${harness.api.url}${path}`, { method, body, headers });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

test('operations without a body refuse fields, and accept the content type of JSON without a body', async () => {
  const { json } = await checked().post('/v1/webhooks', { url: 'https://example.org/' });
  const webhook = `/v1/webhooks/${String(json['id'])}`;
  for (const [method, path] of [
    ['POST', '/v1/stream/tokens'],
    ['POST', `${webhook}/test`],
    ['POST', `${webhook}/secret`],
    ['DELETE', webhook],
  ] as const) {
    const refused = await send(method, path, '{"foo":1}');
    expect([refused.status, refused.json['details']], path).toEqual([
      400,
      [{ path: 'foo', message: 'is not a known field' }],
    ]);
    expect((await send(method, path, '[]')).status, path).toBe(400);
    expect((await send(method, path, '{')).status, path).toBe(400);
    if (method === 'POST') expect((await send(method, path, '{}')).status, path).toBe(200);
    expect((await send(method, path, '')).status, path).toBe(200);
  }
}, 60_000);

test('a key has at most twenty webhooks', async () => {
  const made = await Promise.all(
    Array.from({ length: 22 }, () => request('POST', '/v1/webhooks', { url: 'https://example.org/' })),
  );
  expect(made.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(made.filter(({ status }) => status === 409)).toHaveLength(2);
}, 60_000);

test('the secrets in the database are encrypted', async () => {
  const receiver = await startReceiver();
  await register(receiver);
  const { rows } = await harness.database.pool.query<{ secret: Buffer }>('select secret from webhooks');
  expect(rows[0]?.secret.includes(Buffer.from(receiver.secret.replace('whsec_', ''), 'base64'))).toBe(false);
});
