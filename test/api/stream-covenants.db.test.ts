/**
 * Covenant events of streams and webhooks: as exact and resumable as those of addresses, and equal
 * to what a naive model says.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SubscribeOptions } from '../support/client.ts';
import { applicationDifferences } from '../support/applications.ts';
import { CovenantFollower, describe } from '../support/covenant-follower.ts';
import { startProgram } from '../support/programs.ts';
import { APPLICATION_RATE } from '../support/simulated-dag.ts';
import { UnreliableConnections } from '../support/unreliable-connections.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { type Harness, openHarness } from './harness.ts';

const CONFIRMATIONS = 5;
const CUTS = 30;
/** Less than all that may change, so that most covenants stay. */
const REORG_DEPTH = 8;
const UNKNOWN = 'ab'.repeat(32);
const variables = { WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'), WEBHOOK_ALLOW: '127.0.0.0/8' };

let harness: Harness;

beforeAll(async () => {
  const simulation = { applicationRate: 2 * APPLICATION_RATE };
  harness = await openHarness({ rounds: 150, seed: 'covenant streams', simulation, variables });
  await harness.atRest();
});
afterAll(() => harness.close());

const query = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await harness.database.pool.query<Row>(text, values)).rows;

const sinkOf = async () => (await harness.api.get('/v1/rpc/getSink')).json['sink'] as string;

async function sinkAtRest(): Promise<string> {
  await harness.atRest();
  return sinkOf();
}

interface Row {
  covenantId: string;
  transactionId: string;
  kind: string;
  acceptingBlockHash: string;
  chainIndex: bigint;
  blueScore: bigint;
  revealed: string | null;
}

interface Event extends Row {
  template: string | null;
}

/**
 * Lists all events with the template that each leaves, which the naive model has compared with
 * those of the node. Only what each event reveals is read: the template is what the covenant was
 * last seen to have.
 */
async function listEvents(): Promise<Event[]> {
  expect(await applicationDifferences(harness.database.pool, harness.simulatedDag)).toEqual([]);
  const rows = await query<Row>(
    `select encode(c.covenant_id, 'hex') as "covenantId",
            encode(t.transaction_id, 'hex') as "transactionId", e.kind::text as kind,
            encode(b.hash, 'hex') as "acceptingBlockHash", b.index as "chainIndex",
            b.blue_score as "blueScore", encode(p.template, 'hex') as revealed
       from covenant_events e join covenants c on c.id = e.covenant_id
         join transactions t on t.id = e.transaction_id
       join chain_blocks b on b.index = e.chain_index
         left join program_templates p on p.id = e.template_id
      order by e.chain_index, e.position, c.covenant_id`,
  );
  const templates = new Map<string, string>();
  return rows.map((row) => {
    const template = row.revealed ?? templates.get(row.covenantId) ?? null;
    if (template !== null) templates.set(row.covenantId, template);
    return { ...row, template };
  });
}

async function busiestTemplate(): Promise<string> {
  const [row] = await query<{ template: string }>(
    `select encode(p.template, 'hex') as template from covenants c join program_templates p on p.id = c.template_id
      group by 1 order by count(*) desc, 1 limit 1`,
  );
  return row?.template as string;
}

const firstBlock = async () => (await harness.api.get('/v1/status')).json['firstBlock'] as string;

/** Follows a stream until `end` is called, which waits until it has reached a block. */
function follow(options: SubscribeOptions, connections = new UnreliableConnections()) {
  const follower = new CovenantFollower(options.confirmations);
  const controller = new AbortController();
  let cursor: string | undefined;
  const following = (async () => {
    const steps = harness.api.subscribe({ ...options, signal: controller.signal, reconnectMs: 2 }, connections);
    for await (const step of steps) {
      if (step.cursor === undefined) continue;
      follower.apply(step);
      cursor = step.cursor;
    }
  })();
  const end = async (block: string): Promise<CovenantFollower> => {
    await Promise.race([expect.poll(() => cursor, { timeout: 60_000 }).toBe(block), following]);
    controller.abort();
    await following;
    return follower;
  };
  return { end, following };
}

const reliable = (): UnreliableConnections => Object.assign(new UnreliableConnections(), { isReliable: true });

test('streams that are cut know what the chain does to covenants, while it reorganises', {
  timeout: 180_000,
}, async () => {
  const from = await sinkAtRest();
  const before = await listEvents();
  const ids = [...new Set(before.map(({ covenantId }) => covenantId))].slice(-1000);
  expect(ids.length).toBeGreaterThan(20);
  const template = await busiestTemplate();
  const connections = new UnreliableConnections();
  const common = { events: ['chain'], confirmations: CONFIRMATIONS, from } as const;
  const ofIds = follow({ ...common, covenants: ids }, connections);
  const ofTemplate = follow({ ...common, template }, connections);
  for (let step = 0; connections.cuts < CUTS; step += 1) {
    if (step % 4 === 3) harness.simulatedDag.reorganise(REORG_DEPTH);
    else harness.simulatedDag.mine(3);
    await Promise.race([connections.lose(3), ofIds.following, ofTemplate.following]);
  }
  connections.isReliable = true;
  const sink = await sinkAtRest();
  const [followers, events] = [[await ofIds.end(sink), await ofTemplate.end(sink)], await listEvents()] as const;

  const known = new Set(before.map(({ acceptingBlockHash }) => acceptingBlockHash));
  const isNew = ({ acceptingBlockHash }: Event) => !known.has(acceptingBlockHash);
  const wanted = [
    events.filter(({ covenantId }) => ids.includes(covenantId)),
    events.filter((event) => event.template === template),
  ];
  const [last] = await query<{ blueScore: bigint }>(
    `select blue_score as "blueScore" from chain_blocks order by index desc limit 1`,
  );
  const blueScore = last?.blueScore ?? 0n;
  for (const [place, follower] of followers.entries()) {
    const own = wanted[place]?.filter(isNew) ?? [];
    expect(follower.faults).toEqual([]);
    expect([...follower.accepted.values()].filter((event) => !known.has(event.slice(0, 64)))).toEqual(
      own.map(describe),
    );
    const old = own.filter((event) => event.blueScore + BigInt(CONFIRMATIONS) <= blueScore).map(describe);
    expect([...follower.confirmed.values()]).toEqual(expect.arrayContaining(old));
    expect(own.length).toBeGreaterThan(0);
  }
  expect(followers[0]?.reverted).toBeGreaterThan(0);
  expect(followers[0]?.confirmed.size).toBeGreaterThan(0);
});

test('a cursor at the first block gets everything, by ids and by template', { timeout: 60_000 }, async () => {
  const from = await firstBlock();
  const sink = await sinkAtRest();
  const events = await listEvents();
  const ids = [...new Set(events.map(({ covenantId }) => covenantId))].slice(-1000);
  const template = await busiestTemplate();
  const all = await follow({ events: ['chain'], covenants: ids, from }, reliable()).end(sink);
  expect(all.faults).toEqual([]);
  expect([...all.accepted.values()]).toEqual(events.filter(({ covenantId }) => ids.includes(covenantId)).map(describe));
  expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(['genesis', 'transition', 'burn']));

  const ofTemplate = await follow({ events: ['chain'], template, from }, reliable()).end(sink);
  expect([...ofTemplate.accepted.values()]).toEqual(
    events.filter((event) => event.template === template).map(describe),
  );
  expect(ofTemplate.accepted.size).toBeGreaterThan(0);
  expect(ofTemplate.accepted.size).toBeLessThan(events.length);
});

test('without the chain, the last event of a step has the id', { timeout: 60_000 }, async () => {
  const [from, events] = [await firstBlock(), await listEvents()];
  const last = events.at(-1) as Event;
  const url = `${harness.api.url}/v1/stream?events=covenant&covenant=${last.covenantId}&from=${from}`;
  const controller = new AbortController();
  const response = await fetch(url, { headers: { 'x-api-key': harness.api.key }, signal: controller.signal });
  let text = '';
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.includes(`"transactionId":"${last.transactionId}"`) && text.endsWith('\n\n')) break;
  }
  controller.abort();
  const blocks = text.split('\n\n').filter((block) => block.startsWith('event: covenant'));
  const own = events.filter(({ covenantId }) => covenantId === last.covenantId);
  expect(blocks).toHaveLength(own.length);
  expect(blocks.at(-1)).toMatch(/^event: covenant\nid: [0-9a-f]{64}\ndata: /);
  expect(JSON.parse(blocks.at(-1)?.split('\ndata: ')[1] ?? '')).toEqual({
    covenantId: last.covenantId,
    transactionId: last.transactionId,
    status: 'accepted',
    kind: last.kind,
    template: last.template,
    acceptingBlockHash: last.acceptingBlockHash,
    acceptingBlockBlueScore: String(last.blueScore),
    confirmations: expect.any(Number) as number,
  });
});

test('a webhook gets the same', { timeout: 120_000 }, async () => {
  const from = await sinkAtRest();
  const before = await listEvents();
  const ids = [...new Set(before.map(({ covenantId }) => covenantId))].slice(-1000);
  const template = await busiestTemplate();
  const env = { nodeUrl: '', databaseUrl: harness.database.url };
  const deliverer = startProgram('../../packages/webhooks/src/main.ts', env, variables);
  const receivers = [new WebhookReceiver(), new WebhookReceiver()];
  try {
    for (const receiver of receivers) await receiver.start();
    const webhooks: string[] = [];
    for (const [place, watched] of [{ covenants: ids }, { template }].entries()) {
      const receiver = receivers[place] as WebhookReceiver;
      const given = { url: receiver.url, events: ['covenant'], ...watched, from, confirmations: CONFIRMATIONS };
      const { status, json } = await harness.api.post('/v1/webhooks', given);
      expect(status, JSON.stringify(json)).toBe(200);
      receiver.secret = json['secret'] as string;
      webhooks.push(json['id'] as string);
    }
    for (let round = 0; round < 8; round += 1) {
      harness.simulatedDag.mine(3);
      if (round % 3 === 1) harness.simulatedDag.reorganise(REORG_DEPTH);
      await sleep(200);
    }
    const sink = await sinkAtRest();
    for (const id of webhooks) {
      const cursor = async () => (await harness.api.get(`/v1/webhooks/${id}`)).json['cursor'];
      await expect.poll(cursor, { timeout: 60_000, interval: 100 }).toBe(sink);
    }
    const events = await listEvents();
    const known = new Set(before.map(({ acceptingBlockHash }) => acceptingBlockHash));
    const isWanted = [
      ({ covenantId }: Event) => ids.includes(covenantId),
      (event: Event) => event.template === template,
    ];
    for (const [place, receiver] of receivers.entries()) {
      const follower = new CovenantFollower(CONFIRMATIONS);
      for (const delivery of receiver.received) follower.apply(delivery);
      expect([receiver.faults, follower.faults]).toEqual([[], []]);
      const own = events.filter((event) => !known.has(event.acceptingBlockHash) && isWanted[place]?.(event) === true);
      expect([...follower.accepted.values()].filter((event) => !known.has(event.slice(0, 64)))).toEqual(
        own.map(describe),
      );
      expect(own.length).toBeGreaterThan(0);
    }
    const [, second] = webhooks;
    const { json } = await harness.api.request(`/v1/webhooks/${second}`, {
      method: 'PATCH',
      body: { covenants: [UNKNOWN], template: null },
    });
    expect(json).toMatchObject({ events: ['covenant'], addresses: [], covenants: [UNKNOWN], template: null });
    // A change of something else leaves them.
    const paused = await harness.api.request(`/v1/webhooks/${second}`, {
      method: 'PATCH',
      body: { status: 'disabled' },
    });
    expect(paused.json).toMatchObject({ covenants: [UNKNOWN], template: null, status: 'disabled' });
    const emptied = await harness.api.request(`/v1/webhooks/${second}`, { method: 'PATCH', body: { covenants: [] } });
    expect(emptied.status).toBe(400);
    expect(emptied.json['details']).toMatchObject([{ path: 'covenants' }]);
  } finally {
    await deliverer.stop();
    for (const receiver of receivers) await receiver.stop();
  }
});

test('covenants of a mempool transaction are pending', { timeout: 60_000 }, async () => {
  await harness.atRest();
  const controller = new AbortController();
  const [ids, statuses] = [(await listEvents()).map(({ covenantId }) => covenantId), new Set<string>()];
  const options = {
    events: ['covenant'],
    covenants: [...new Set(ids)].slice(-1000),
    signal: controller.signal,
  } as const;
  const following = (async () => {
    for await (const { cursor, events } of harness.api.subscribe(options)) {
      if (cursor !== undefined) continue;
      for (const { event, data } of events) {
        if (event === 'covenant') statuses.add(data.status);
      }
    }
  })();
  for (let round = 0; round < 60 && !statuses.has('pending'); round += 1) {
    harness.simulatedDag.pay(5);
    harness.simulatedDag.mine(1);
    await sleep(400);
  }
  controller.abort();
  await following;
  expect(statuses).toContain('pending');
});

const many = (count: number) => Array.from({ length: count }, (_, index) => index.toString(16).padStart(64, '0'));

test.each([
  ['1,001 ids', { covenants: many(1001) }, 'covenants'],
  ['an id that is no hash', { covenants: [UNKNOWN, 'ab'] }, 'covenants.1'],
  ['a template that is no hash', { template: 'zz' }, 'template'],
  ['covenants and a template', { covenants: [UNKNOWN], template: UNKNOWN }, 'template'],
])('%s are a 400 that names the field', async (_what, given, path) => {
  for (const [url, body] of [
    ['/v1/stream', { events: ['covenant'], ...given }],
    ['/v1/webhooks', { url: 'https://example.org/', events: ['covenant'], ...given }],
  ] as const) {
    const { status, json } = await harness.api.post(url, body);
    expect(status, url).toBe(400);
    expect(json['details']).toMatchObject([{ path }]);
  }
});

test.each([
  [`covenant=${UNKNOWN}&covenant=ab`, 'covenant.1'],
  ['covenant=ab', 'covenant'],
  [
    many(101)
      .map((id) => `covenant=${id}`)
      .join('&'),
    'covenant',
  ],
  [`covenant=${UNKNOWN}&template=${UNKNOWN}`, 'template'],
  ['template=ab', 'template'],
])('in a URL, too', async (text, path) => {
  const { status, json } = await harness.api.get(`/v1/stream?events=covenant&${text}`);
  expect(status).toBe(400);
  expect((json['details'] as { path: string }[])[0]?.path).toBe(path);
});

test.each([
  [['covenant'], 'covenants'],
  [['address'], 'addresses'],
  [['covenant', 'address'], 'addresses'],
  [[], 'events'],
])('a subscription to %j that would get nothing is a 400 that names the field', async (events, path) => {
  const { api } = harness;
  for (const { status, json } of [
    await api.post('/v1/stream', { events }),
    await api.post('/v1/webhooks', { url: 'https://example.org/', events }),
  ]) {
    expect(status).toBe(400);
    expect(json['details']).toMatchObject([{ path }]);
  }
});

test.each(['covenant', 'address'])('one to %s in a URL, too', async (event) => {
  const { status, json } = await harness.api.get(`/v1/stream?events=${event}`);
  expect(status).toBe(400);
  expect(json['details']).toMatchObject([{ path: event }]);
});

const held = (covenants: number, template: string | null = null) => ({
  event: 'subscribed',
  data: { addresses: 0, covenants, template },
});

const refused = (path: string) => ({ event: 'error', data: { statusCode: 400, details: [{ path }] } });

test('a WebSocket adds and removes covenants, up to 1,000, or a template', { timeout: 30_000 }, async () => {
  const { socket, messages } = await harness.api.openWebSocket();
  let id = 0;
  const command = async (given: object) => {
    id += 1;
    socket.send(JSON.stringify({ id, ...given }));
    const response = () =>
      messages.find(({ event, data }) => ['subscribed', 'error'].includes(event) && data['id'] === id);
    await expect.poll(response, { timeout: 10_000 }).toBeDefined();
    return response();
  };
  expect(await command({ subscribe: { events: ['covenant'], covenants: many(999) } })).toMatchObject(held(999));
  expect(await command({ subscribe: { covenants: many(1000) } })).toMatchObject(held(1000));
  expect(await command({ subscribe: { covenants: [UNKNOWN] } })).toMatchObject(refused('subscribe.covenants'));
  expect(await command({ subscribe: { template: UNKNOWN } })).toMatchObject(refused('subscribe.template'));
  expect(await command({ unsubscribe: { covenants: many(1000) } })).toMatchObject(held(0));
  expect(await command({ subscribe: { template: UNKNOWN } })).toMatchObject(held(0, UNKNOWN));
  expect(await command({ unsubscribe: { template: UNKNOWN } })).toMatchObject(held(0));
  socket.close();
});
