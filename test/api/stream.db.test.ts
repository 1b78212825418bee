/**
 * Streams: exact and resumable, while the chain grows and reorganises and connections are cut at
 * random moments.
 */
import { type Message as StreamMessage, requireStart } from '@kasgres/chain-steps';
import { createKey, revokeKey } from '@kasgres/database';
import { EventLoopTurns, IndexReader } from '@kasgres/reads';
import { createLogger } from '@kasgres/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, StreamError } from '../support/client.ts';
import { Follower } from '../../packages/api/src/stream/follower.ts';
import type { Subscriber } from '../../packages/api/src/stream/subscriber.ts';
import { StreamFollower } from '../support/stream-follower.ts';
import { UnreliableConnections } from '../support/unreliable-connections.ts';
import { type Harness, openHarness } from './harness.ts';

/** More in the long run: `STREAM_CUTS=1000`. */
const CUTS = Number(process.env['STREAM_CUTS'] ?? 100);
const CUTS_PER_STEP = 10;

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 160, seed: 'streams' });
  await harness.atRest();
});
afterAll(() => harness.close());

const sinkOf = async () => (await harness.api.get('/v1/rpc/getSink')).json['sink'] as string;

async function listAddresses(limit: number): Promise<Map<string, bigint>> {
  const { rows } = await harness.database.pool.query<{ address: string; balance: bigint }>(
    'select address, balance from balances join scripts on id = script_id where address is not null order by transaction_count desc limit $1',
    [limit],
  );
  return new Map(rows.map(({ address, balance }) => [address, balance]));
}

async function chainAbove(hash: string) {
  const { rows } = await harness.database.pool.query<{ hash: string; ids: string[] }>(
    `select encode(c.hash, 'hex') as hash, array(
       select encode(t.transaction_id, 'hex')
         from unnest(c.accepted_transactions) with ordinality a (id, n)
           join transactions t on t.id = a.id order by n) as ids
     from chain_blocks c where c.index > (select index from chain_blocks
       where hash = decode($1, 'hex')) order by c.index`,
    [hash],
  );
  return rows;
}

test(`a client that is cut ${CUTS} times reconstructs the chain, acceptance and balances`, {
  timeout: 120_000 + CUTS * 600,
}, async () => {
  const balances = await listAddresses(8);
  const start = await sinkOf();
  const genesis = (await harness.api.get('/v1/status')).json['firstBlock'] as string;
  const before = [genesis, ...(await chainAbove(genesis)).map(({ hash }) => hash)];
  expect(before.at(-1)).toBe(start);
  const follower = new StreamFollower(before, balances);
  const connections = new UnreliableConnections();
  const end = new AbortController();
  const following = (async () => {
    const options = {
      events: ['chain'] as const,
      addresses: [...balances.keys()],
      confirmations: 5,
      acceptedIds: true,
      from: start,
    };
    const following = harness.api.subscribe({ ...options, signal: end.signal, reconnectMs: 2 }, connections);
    for await (const step of following) follower.apply(step);
  })();
  for (let step = 0; connections.cuts < CUTS; step += 1) {
    if (step % 5 === 4) harness.simulatedDag.reorganise();
    else harness.simulatedDag.mine(2);
    await Promise.race([connections.lose(CUTS_PER_STEP), following]);
  }
  connections.isReliable = true;
  await harness.atRest();
  const sink = await sinkOf();
  await expect.poll(() => follower.chain.at(-1), { timeout: 60_000 }).toBe(sink);
  end.abort();
  await following;

  expect(follower.faults).toEqual([]);
  const expected = await chainAbove(genesis);
  expect(follower.chain.slice(1)).toEqual(expected.map(({ hash }) => hash));
  for (const { hash, ids } of expected) if (!before.includes(hash)) expect(follower.accepted.get(hash)).toEqual(ids);
  const now = await listAddresses(1000);
  for (const [address, balance] of follower.balances) expect(balance, address).toBe(now.get(address));
  for (const [address, stated] of follower.stated) expect(BigInt(stated), address).toBe(now.get(address));
  expect(follower.removedBlocks).toBeGreaterThan(0);
  expect(follower.confirmed.size).toBeGreaterThan(0);
});

const withKey = () => ({ 'x-api-key': harness.api.key });

test('a stream begins with a pause for reconnections and the cursor, and is never cached or compressed', async () => {
  const { response, stream, close } = await harness.api.openStream('/v1/stream', {
    ...withKey(),
    'accept-encoding': 'gzip',
    origin: 'https://example.org',
  });
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-request-cost-ru': '0.5',
  });
  expect(response.headers.get('content-encoding')).toBeNull();
  const sink = await sinkOf();
  const text = await stream.until(/heartbeat[\s\S]*\n\n/);
  expect(text).toMatch(
    new RegExp(`^retry: 2000\n\nevent: heartbeat\nid: ${sink}\ndata: \\{"sink":"${sink}","blueScore":"\\d+"\\}\n\n$`),
  );
  harness.simulatedDag.mine(2);
  expect(await stream.until(/event: chain\nid: [0-9a-f]{64}\ndata: \{"removed":\[/)).toContain('event: chain');
  close();
  await harness.atRest();
});

test('from an old block it sends pages of at most a hundred blocks, each with an id', async () => {
  const { rows } = await harness.database.pool.query<{ hash: string }>(
    `select encode(hash, 'hex') as hash from chain_blocks order by index limit 1`,
  );
  const [{ hash }] = rows as [{ hash: string }];
  const sink = await sinkOf();
  const { stream, close } = await harness.api.openStream(`/v1/stream?from=${hash}`);
  const text = await stream.until(/"isCaughtUp":true/);
  expect(text).toMatch(new RegExp(`id: ${hash}\ndata: \\{"sink":"${sink}","blueScore":"\\d+"\\}\n`));
  const steps = [...text.matchAll(/event: chain\nid: ([0-9a-f]{64})\ndata: (.*)\n/g)].map(([, id, data]) => ({
    id,
    ...(JSON.parse(data as string) as { added: { hash: string }[]; isCaughtUp: boolean }),
  }));
  // Reorgs may follow.
  const pages = steps.slice(0, 1 + steps.findIndex(({ isCaughtUp }) => isCaughtUp));
  expect(pages.length).toBeGreaterThan(1);
  for (const { id, added } of pages) {
    expect(added.length).toBeLessThanOrEqual(100);
    expect(added.at(-1)?.hash).toBe(id);
  }
  close();
});

/** Lists blocks that never were chain blocks, and those that were. */
async function listOffChain() {
  const { rows } = await harness.database.pool.query<{ hash: Buffer; parent: string; wasOnChain: boolean }>(
    `select b.hash, encode(p.hash, 'hex') as parent, r.block_id is not null as "wasOnChain"
     from blocks b join blocks p on p.id = b.selected_parent_id
       left join removed_chain_blocks r on r.block_id = b.id
     where not b.is_chain_block and p.is_chain_block order by b.id`,
  );
  return {
    neverOnChain: rows.filter(({ wasOnChain }) => !wasOnChain),
    onceOnChain: rows.filter(({ wasOnChain }) => wasOnChain),
  };
}

test('a block that never was a chain block is a cursor: it accepted nothing for any address', async () => {
  const addresses = [...(await listAddresses(100)).keys()];
  const [block] = (await listOffChain()).neverOnChain;
  const from = block?.hash.toString('hex');
  const { stream, close } = await harness.api.openStream(
    `/v1/stream?include=accepted_ids&from=${from}&${addresses.map((address) => `address=${address}`).join('&')}`,
  );
  const text = await stream.until(/event: chain\nid: .*\n/);
  close();
  expect(text).not.toContain('reverted');
  expect(text).toContain(`data: {"removed":["${from}"],"added":[{"hash":"`);
  expect(text).toContain(`"selectedParentHash":"${block?.parent}"`);
});

test('below the finality depth, only what is kept of removed blocks is known', async () => {
  const { neverOnChain, onceOnChain } = await listOffChain();
  const index = new IndexReader(harness.database);
  const startFrom = (hash: Buffer | undefined, withAddresses: boolean) =>
    index.read(({ state, ...reading }) => {
      const sinkChainIndex = state.sinkChainIndex + state.network.finalityDepth + 1n;
      return requireStart({ ...reading, state: { ...state, sinkChainIndex } }, hash as Buffer, withAddresses);
    });
  await expect(startFrom(neverOnChain[0]?.hash, true)).rejects.toMatchObject({ statusCode: 409 });
  await startFrom(neverOnChain[0]?.hash, false);
  await startFrom(onceOnChain[0]?.hash, true);
});

test('new blocks are sent as in the DAG, also before they are merged', async () => {
  const { stream, close } = await harness.api.openStream('/v1/stream?events=block,chain');
  await stream.until(/heartbeat/);
  // Blocks that were indexed before the stream was read for the first time are not announced.
  const mining = setInterval(() => harness.simulatedDag.mine(1), 300);
  const text = await stream.until(/event: block\ndata: (.*)\n/).finally(() => clearInterval(mining));
  await harness.atRest();
  const [, data = ''] = /event: block\ndata: (.*)\n/.exec(text) ?? [];
  const block = JSON.parse(data) as { hash: string; parentHashes: string[] };
  const dag = (await harness.api.get(`/v1/dag?around=${block.hash}&span=2`)).json['blocks'] as {
    hash: string;
    parentHashes: string[];
  }[];
  expect(dag.find(({ hash }) => hash === block.hash)?.parentHashes).toEqual(block.parentHashes);
  close();
  await harness.atRest();
});

/** Runs statements while it is not paused. */
class PausableReader extends IndexReader {
  paused: Promise<void> | undefined;
  override async run(...given: Parameters<IndexReader['run']>) {
    await this.paused;
    return super.run(...given);
  }
}

test('no new block is left out, however many are indexed between two reads', async () => {
  const index = new PausableReader(harness.database);
  const logger = createLogger({ name: 'follower under test', level: 'silent' });
  const databaseUrl = harness.database.url;
  const follower = new Follower({ index, turns: new EventLoopTurns(), databaseUrl, logger });
  const received: string[] = [];
  const subscriber = {
    subscription: { events: new Set(['block']), addresses: new Set(), confirmations: undefined, withIds: false },
    onRead: (messages: readonly StreamMessage[]) =>
      received.push(...messages.map(({ data }) => (JSON.parse(data) as { hash: string }).hash)),
  } as unknown as Subscriber;
  await harness.atRest();
  const { rows: last } = await harness.database.pool.query<{ id: bigint }>('select max(id) as id from blocks');
  follower.add(subscriber);
  await follower.nextRead();
  const { promise, resolve } = Promise.withResolvers<void>();
  index.paused = promise;
  let blocks: { hash: string }[] = [];
  while (blocks.length <= 600) {
    harness.simulatedDag.mine(100);
    await harness.atRest();
    ({ rows: blocks } = await harness.database.pool.query<{ hash: string }>(
      `select encode(hash, 'hex') as hash from blocks where id > $1 order by id`,
      [last[0]?.id],
    ));
  }
  resolve();
  await expect.poll(() => received.length).toBeGreaterThanOrEqual(blocks.length);
  follower.remove(subscriber);
  await follower.close();
  expect(received).toEqual(blocks.map(({ hash }) => hash));
});

test('the mempool is sent whole once, and pending transactions of an address', async () => {
  harness.simulatedDag.pay(3);
  const { entries } = await harness.node.call('getMempoolEntries', {
    includeOrphanPool: false,
    filterTransactionPool: false,
  });
  // A sample of the mempool is up to ten seconds old, if the one before was slow.
  await expect.poll(async () => (await harness.api.get('/v1/mempool')).json['size']).toBe(entries.length);
  const output = entries[0]?.transaction?.outputs[0]?.verboseData?.scriptPublicKeyAddress;
  const { stream, close } = await harness.api.openStream(`/v1/stream?events=mempool,address&address=${output}`);
  const text = await stream.until(/"status":"pending"/);
  const [, data = ''] = /event: mempool\ndata: (.*)\n/.exec(text) ?? [];
  const snapshot = JSON.parse(data) as { added: object[]; isSnapshot: boolean };
  expect(snapshot).toMatchObject({ removed: [], isSnapshot: true });
  expect(snapshot.added).toHaveLength(entries.length);
  close();
});

async function findUnmerged() {
  const { rows } = await harness.database.pool.query<{ id: string; address: string }>(
    `select encode(t.transaction_id, 'hex') as id, s.address
     from checkpoint c cross join unnest(c.virtual_merge_set || c.block_id) block (id)
     join block_transactions contained on contained.block_id = block.id
     join transactions t on t.id = contained.transaction_id and t.accepting_index is null
       and t.subnetwork_id <> 1
     join transaction_outputs o on o.transaction_id = t.id
       join scripts s on s.id = o.script_id and s.address is not null limit 1`,
  );
  return rows[0];
}

test('a transaction of a block that is not merged yet is pending, too', async () => {
  let unmerged = await findUnmerged();
  for (let round = 0; unmerged === undefined && round < 100; round += 1) {
    harness.simulatedDag.mine(1);
    await harness.atRest();
    unmerged = await findUnmerged();
  }
  const { stream, close } = await harness.api.openStream(`/v1/stream?events=address&address=${unmerged?.address}`);
  const text = await stream.until(new RegExp(`"transactionId":"${unmerged?.id}","status":"pending"`));
  expect(text).toMatch(/"acceptingBlockHash":null/);
  close();
});

test.each([
  ['/v1/stream?events=nothing', 400],
  ['/v1/stream?address=kaspa:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqkx9awp4e', 400],
  ['/v1/stream?from=ab', 400],
  ['/v1/stream?confirmations=0', 400],
  ['/v1/stream?unknown=1', 400],
  ['/v1/ws', 426],
])('%s is refused with %i', async (path, status) => {
  expect((await harness.api.request(path, { method: 'HEAD' })).status).toBeGreaterThanOrEqual(400);
  expect((await harness.api.get(path)).status).toBe(status);
});

test('an unknown cursor is a 404 after ten seconds', { timeout: 30_000 }, async () => {
  const started = performance.now();
  const client = createClient({ baseUrl: harness.api.url, apiKey: harness.api.key });
  const following = client.subscribe({ from: 'ab'.repeat(32) }).next();
  await expect(following).rejects.toThrow(StreamError);
  await expect(following).rejects.toMatchObject({ statusCode: 404 });
  expect(performance.now() - started).toBeGreaterThan(9_000);
});

test('a key or a token is needed, and revoking the key refuses its token', { timeout: 30_000 }, async () => {
  expect((await fetch(`${harness.api.url}/v1/stream`)).status).toBe(401);
  const { id, key } = await createKey(harness.database.kysely, { name: 'browser' });
  for (const credential of [`kst_1_1_${'a'.repeat(43)}`, key])
    expect((await fetch(`${harness.api.url}/v1/stream?token=${credential}`)).status).toBe(401);
  const created = await fetch(`${harness.api.url}/v1/stream/tokens`, { method: 'POST', headers: { 'x-api-key': key } });
  const { token, expiresAt } = (await created.json()) as { token: string; expiresAt: number };
  expect(expiresAt - Date.now()).toBeGreaterThan(3_500_000);
  const { stream, response } = await harness.api.openStream(`/v1/stream?token=${token}`, {});
  expect(response.status).toBe(200);
  await stream.until(/heartbeat/);
  // A token opens nothing but streams, and cannot be extended.
  expect((await fetch(`${harness.api.url}/v1/network?token=${token}`)).status).toBe(401);
  expect((await fetch(`${harness.api.url}/v1/network`, { headers: { 'x-api-key': token } })).status).toBe(401);
  const [, keyId, , signature] = token.split('_') as [string, string, string, string];
  expect((await fetch(`${harness.api.url}/v1/stream?token=kst_${keyId}_${expiresAt + 1}_${signature}`)).status).toBe(
    401,
  );
  await revokeKey(harness.database.kysely, id);
  expect(await stream.ended()).toContain('event: error\ndata: {"statusCode":401,');
  await expect
    .poll(async () => (await fetch(`${harness.api.url}/v1/stream?token=${token}`)).status, { timeout: 10_000 })
    .toBe(401);
  const { log } = harness.program as unknown as { log?: string };
  expect(log ?? '').not.toContain(token);
});

test('a WebSocket has the same messages, and its subscription can change', async () => {
  const { socket, messages } = await harness.api.openWebSocket();
  const find = (event: string) => expect.poll(() => messages.find((each) => each.event === event), { timeout: 10_000 });
  socket.send('{');
  const details = [{ path: '', message: 'is not valid JSON' }];
  await find('error').toEqual({
    event: 'error',
    data: { id: null, statusCode: 400, message: 'The request is malformed', details },
  });
  const foreign = 'kaspa:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqkx9awp4e';
  const refused: [object, string, string | RegExp][] = [
    [{ subscribe: { events: ['nothing'] } }, 'subscribe.events.0', /^Invalid option/],
    [{ subscribe: { extra: 1 } }, 'subscribe.extra', 'is not a known field'],
    [{ subscribe: {}, extra: 1 }, 'extra', 'is not a known field'],
    [{ unsubscribe: { extra: 1 } }, 'unsubscribe.extra', 'is not a known field'],
    [{}, 'subscribe', 'is required'],
    [{ subscribe: { addresses: [foreign] } }, 'subscribe.addresses.0', 'is not an address of simnet'],
  ];
  for (const [id, [command, path, wording]] of refused.entries()) {
    messages.length = 0;
    socket.send(JSON.stringify({ id, ...command }));
    const details = [{ path, message: expect.stringMatching(wording) as string }];
    await find('error').toMatchObject({ data: { id, statusCode: 400, message: 'The request is not valid', details } });
  }
  const balances = await listAddresses(1000);
  const from = await sinkOf();
  socket.send(JSON.stringify({ id: 1, subscribe: { events: ['chain'], include: 'accepted_ids' } }));
  await find('subscribed').toMatchObject({ data: { id: 1, addresses: 0, cursor: from } });
  await find('heartbeat').toMatchObject({ id: from });
  harness.simulatedDag.mine(6);
  await harness.atRest();
  await expect.poll(() => messages.findLast(({ event }) => event === 'chain')?.id).toBe(await sinkOf());
  messages.length = 0;
  socket.send(JSON.stringify({ id: 2, subscribe: { addresses: [...balances.keys()].slice(0, 1000), from } }));
  await find('subscribed').toMatchObject({ data: { id: 2, addresses: Math.min(balances.size, 1000) } });
  // A sample of the mempool may come in between.
  const moved = messages.flatMap(({ event, data }) =>
    event === 'address' && data['acceptingBlockHash'] !== null ? [data] : [],
  );
  expect(moved.length).toBeGreaterThan(0);
  for (const { address, balanceChange, status } of moved) {
    const sign = status === 'reverted' ? -1n : 1n;
    balances.set(String(address), (balances.get(String(address)) ?? 0n) + sign * BigInt(String(balanceChange)));
  }
  const now = await listAddresses(10_000);
  for (const [address, balance] of balances) expect(balance, address).toBe(now.get(address));
  socket.send(JSON.stringify({ id: 3, unsubscribe: { addresses: [...balances.keys()] } }));
  await expect
    .poll(() => messages.findLast(({ event }) => event === 'subscribed')?.data)
    .toMatchObject({ id: 3, addresses: 0 });
  // Further subscriptions add nothing by default.
  socket.send(JSON.stringify({ id: 4, unsubscribe: { events: ['chain'] } }));
  socket.send(JSON.stringify({ id: 5, subscribe: { addresses: [...balances.keys()].slice(0, 1000) } }));
  await expect.poll(() => messages.findLast(({ event }) => event === 'subscribed')?.data).toMatchObject({ id: 5 });
  messages.length = 0;
  harness.simulatedDag.mine(4);
  await harness.atRest();
  await expect.poll(() => messages.findLast(({ id }) => id !== undefined)?.id).toBe(await sinkOf());
  expect(messages.filter(({ event }) => event === 'chain')).toEqual([]);
  socket.close();
});

test('a later subscription to the chain of a WebSocket gets the steps in between, each once', async () => {
  const { socket, messages } = await harness.api.openWebSocket();
  const subscribed = (id: number) =>
    expect.poll(() => messages.find(({ event, data }) => event === 'subscribed' && data['id'] === id), {
      timeout: 20_000,
    });
  const [address] = (await listAddresses(1)).keys();
  const genesis = (await harness.api.get('/v1/status')).json['firstBlock'] as string;
  socket.send(JSON.stringify({ id: 1, subscribe: { events: [], addresses: [address] } }));
  await subscribed(1).toBeDefined();
  const mining = setInterval(() => harness.simulatedDag.mine(1), 20);
  socket.send(JSON.stringify({ id: 2, subscribe: { events: ['chain'], include: 'accepted_ids', from: genesis } }));
  await subscribed(2)
    .toBeDefined()
    .finally(() => clearInterval(mining));
  harness.simulatedDag.reorganise();
  harness.simulatedDag.mine(3);
  await harness.atRest();
  const sink = await sinkOf();
  await expect.poll(() => messages.findLast(({ event }) => event === 'chain')?.id).toBe(sink);
  socket.close();

  const chain = [genesis];
  for (const { event, id, data } of messages) {
    if (event === 'subscribed' && data['id'] === 2) expect(chain).toContain(data['cursor']);
    if (event !== 'chain') continue;
    for (const hash of data['removed'] as string[]) expect(chain.pop()).toBe(hash);
    for (const added of data['added'] as {
      hash: string;
      selectedParentHash: string;
      acceptedTransactionIds: string[];
    }[]) {
      expect(added.selectedParentHash).toBe(chain.at(-1));
      expect(added.acceptedTransactionIds).toBeDefined();
      chain.push(added.hash);
    }
    if (id !== undefined) expect(id).toBe(chain.at(-1));
  }
  expect(chain.slice(1)).toEqual((await chainAbove(genesis)).map(({ hash }) => hash));
  // The past of the chain has no ids, which are those of the connection.
  expect(messages.some(({ event, id }) => event === 'chain' && id === undefined)).toBe(true);
});

test('all clients of one process get each step once, which is read once for all of them', async () => {
  const streams = await Promise.all(Array.from({ length: 40 }, () => harness.api.openStream('/v1/stream')));
  await Promise.all(streams.map(({ stream }) => stream.until(/heartbeat/)));
  harness.simulatedDag.mine(4);
  await harness.atRest();
  const sink = await sinkOf();
  const texts = await Promise.all(
    streams.map(({ stream }) => stream.until(new RegExp(`id: ${sink}\ndata: \\{"removed"`))),
  );
  const steps = texts.map((text) => [...text.matchAll(/"hash":"([0-9a-f]{64})"/g)].map(([, hash]) => hash));
  for (const hashes of steps) expect(new Set(hashes).size).toBe(hashes.length);
  for (const { close } of streams) close();
});
