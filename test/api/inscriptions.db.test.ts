/** Inscriptions over the API: filters, cursors and what their bytes say. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { p2shOf } from '@kasgres/devnet';
import { scriptToAddress, toHex } from '@kasgres/kaspa';
import { scriptOf } from '@kasgres/devnet/testing';
import { envelope, pay } from '../support/inscribed-payments.ts';
import { mineRewards } from '../support/lane-payments.ts';
import { openHarness, type Harness } from './harness.ts';

const mint = (tick: string, more: object = {}): string => JSON.stringify({ p: 'krc-20', op: 'mint', tick, ...more });

/** In the order of the chain. */
const PAYLOADS = [
  mint('KASP'),
  'ciph_msg:1:bcast:kaspa:Grüße',
  mint('KASP', { x: 1 }),
  'kasplex\0binary',
  'nothing of a protocol',
  JSON.stringify({ p: 'krc-20', op: 'transfer', tick: 'kasp', amt: '1', to: 'kaspasim:x' }),
  `kch:${'x'.repeat(70_000)}`,
];
/** Ends with more bytes that do nothing than a content may have. */
const ENVELOPED = Buffer.concat([
  envelope(77, 'kns', JSON.stringify({ op: 'create', p: 'domain', v: 'Me.kas' })),
  Buffer.alloc(70_000, 0x61),
]);

interface Item {
  transactionId: string;
  source: 'payload' | { input: number };
  protocol: string;
  operation: string | null;
  tick: string | null;
  body: unknown;
  isAccepted: boolean;
  timestamp: number;
}

let harness: Harness;
let sender: string;

beforeAll(async () => {
  harness = await openHarness({ rounds: 5, simulation: { applicationRate: 0 } });
  const { simulatedDag } = harness;
  mineRewards(simulatedDag, 40);
  for (const payload of PAYLOADS) pay(simulatedDag, { payload: Buffer.from(payload) });
  pay(simulatedDag, { to: p2shOf(ENVELOPED) });
  pay(simulatedDag, { program: ENVELOPED, payload: Buffer.from(mint('KASP')) });
  simulatedDag.mine(2);
  await harness.atRest();
  await harness.indexer.stop();
  sender = scriptToAddress(scriptOf(2), 'kaspasim') ?? '';
});
afterAll(() => harness.close());

async function list(query: Record<string, string> = {}): Promise<{ items: Item[]; metadata: Record<string, unknown> }> {
  const { status, json } = await harness.api.getChecked('/v1/inscriptions', {}, query);
  expect(status, JSON.stringify(json)).toBe(200);
  return { items: json['inscriptions'] as Item[], metadata: json['metadata'] as Record<string, unknown> };
}

const kindsOf = (items: readonly Item[]) => items.map(({ protocol, operation, tick }) => [protocol, operation, tick]);

describe('GET /v1/inscriptions', () => {
  test('shows what payloads and programs state, newest transaction first', async () => {
    const { items, metadata } = await list();
    expect(metadata).toEqual({ hasMore: false, count: 8 });
    expect(kindsOf(items)).toEqual([
      ['kns', 'create', 'Me.kas'],
      ['krc-20', 'mint', 'KASP'],
      ['kaspatalk', 'chat', null],
      ['krc-20', 'transfer', 'KASP'],
      ['kasplex-l2', null, null],
      // A value is a number.
      ['krc-20', 'undecodable', null],
      ['kasia', 'bcast', 'kaspa'],
      ['krc-20', 'mint', 'KASP'],
    ]);
    const [inProgram, withIt, large, , binary, , message, first] = items;
    expect(inProgram).toMatchObject({ source: { input: 0 }, body: { op: 'create', p: 'domain', v: 'Me.kas' } });
    expect(withIt).toMatchObject({ source: 'payload', transactionId: inProgram?.transactionId });
    expect([large?.body, binary?.body, message?.body]).toEqual([null, null, 'Grüße']);
    const { rows } = await harness.database.pool.query<{ id: string; timestamp: bigint }>(
      `select encode(t.transaction_id, 'hex') as id, c.timestamp from transactions t
        join chain_blocks c on c.index = t.accepting_index
       where t.payload = $1`,
      [Buffer.from(mint('KASP'))],
    );
    const known = rows.find(({ id }) => id === first?.transactionId);
    expect(first).toEqual({
      transactionId: known?.id,
      source: 'payload',
      protocol: 'krc-20',
      operation: 'mint',
      tick: 'KASP',
      body: { p: 'krc-20', op: 'mint', tick: 'KASP' },
      isAccepted: true,
      timestamp: Number(known?.timestamp),
    });
  });

  test.each([
    [{ protocol: 'kasia' }, 1],
    [{ protocol: 'krc-20' }, 4],
    [{ protocol: 'krc-20', operation: 'mint' }, 2],
    [{ operation: 'undecodable' }, 1],
    [{ tick: 'kasp' }, 3],
    [{ tick: 'KASP', operation: 'mint' }, 2],
    [{ tick: 'KASP', protocol: 'kns' }, 0],
    [{ tick: 'Me.kas' }, 1],
    [{ tick: 'nobody' }, 0],
    [{ protocol: 'unknown' }, 0],
  ])('with %j shows %d', async (query, expected) => {
    const { items, metadata } = await list(query);
    expect(items.length).toBe(expected);
    expect(metadata).toEqual({ hasMore: false, count: expected });
  });

  test('with an address shows what its owner states, by envelope or payload', async () => {
    const ofKey = scriptToAddress(scriptOf(77), 'kaspasim') ?? '';
    expect(kindsOf((await list({ address: ofKey })).items)).toEqual([['kns', 'create', 'Me.kas']]);
    expect((await list({ address: sender })).items.length).toBe(6);
    expect((await list({ address: sender, tick: 'kasp' })).items.length).toBe(2);
    const ofProgram = scriptToAddress(p2shOf(ENVELOPED), 'kaspasim') ?? '';
    expect(kindsOf((await list({ address: ofProgram })).items)).toEqual([['krc-20', 'mint', 'KASP']]);
  });

  test.each<Record<string, string>>([{}, { protocol: 'krc-20' }, { tick: 'KASP' }])(
    'walks in both directions with %j',
    async (query) => {
      const { items } = await list(query);
      const cursorOf = ({ transactionId, source }: Item) =>
        `${transactionId}:${source === 'payload' ? 'payload' : source.input}`;
      const forwards: Item[] = [];
      for (let cursor: Record<string, string> = {}; ; ) {
        const page = await list({ ...query, ...cursor, limit: '1' });
        forwards.push(...page.items);
        if (page.metadata['hasMore'] !== true) break;
        cursor = { starting_after: cursorOf(page.items[0] as Item) };
      }
      expect(forwards).toEqual(items);
      for (const [place, item] of items.entries()) {
        const before = await list({ ...query, ending_before: cursorOf(item) });
        expect(before.items).toEqual(items.slice(0, place));
      }
    },
  );

  test('takes a transaction as a cursor behind all of its items', async () => {
    const { items } = await list();
    const [newest] = items;
    const id = newest?.transactionId ?? '';
    expect((await list({ starting_after: id })).items).toEqual(items.slice(2));
    expect((await list({ ending_before: id })).items).toEqual([]);
  });

  test('refuses malformed filters and cursors, and does not know others', async () => {
    const statusOf = async (query: Record<string, string>) =>
      (await harness.api.getChecked('/v1/inscriptions', {}, query)).status;
    for (const query of [
      { protocol: '' },
      { protocol: 'A b' },
      { tick: '' },
      { address: 'kaspa:x' },
      { starting_after: 'x' },
      { order: 'x' },
    ]) {
      expect(await statusOf(query as unknown as Record<string, string>), JSON.stringify(query)).toBe(400);
    }
    for (const cursor of ['ab'.repeat(32), `${'ab'.repeat(32)}:payload`])
      expect(await statusOf({ starting_after: cursor })).toBe(404);
    const { rows } = await harness.database.pool.query<{ id: Buffer }>(
      'select transaction_id as id from transactions order by id limit 1',
    );
    expect(await statusOf({ starting_after: `${toHex(rows[0]?.id ?? Buffer.alloc(32))}:7` })).toBe(404);
  });
});

test('GET /v1/network/protocols sums up what the rows of its interval have', async () => {
  const { json } = await harness.api.getChecked('/v1/network/protocols', {}, { interval: 'day', from: '0' });
  const history = json['history'] as {
    protocols: { protocol: string; transactions: number }[];
    lanes: object;
    covenantEvents: object;
  }[];
  const sums = new Map<string, number>();
  for (const { protocol, transactions } of history.flatMap(({ protocols }) => protocols)) {
    sums.set(protocol, (sums.get(protocol) ?? 0) + transactions);
  }
  expect(Object.fromEntries(sums)).toEqual({ kasia: 1, kaspatalk: 1, 'kasplex-l2': 1, kns: 1, 'krc-20': 4 });
  const hourly = await harness.api.getChecked('/v1/network/protocols', {}, { from: '0' });
  expect((hourly.json['history'] as object[]).length).toBeGreaterThan(history.length);
  expect(history.at(-1)).toMatchObject({
    covenantEvents: { genesis: 0, transition: 0, burn: 0 },
    lanes: { transactions: 0, gas: '0', fees: '0' },
  });
});

test('search finds a tick, also by the URL of its page, while it has an inscription', async () => {
  const search = async (q: string) => (await harness.api.getChecked('/v1/search', {}, { q })).json['results'];
  const kasp = { type: 'tick', id: 'KASP', label: 'KASP', protocol: 'krc-20' };
  expect(await search('kasp')).toEqual([kasp]);
  expect(await search('http://localhost:3000/protocols?protocol=krc-20&tick=KASP#operations')).toEqual([kasp]);
  // As a reorg leaves it, and retention.
  await harness.database.pool.query(
    `insert into inscription_kinds (protocol, operation, tick) values ('krc-20', 'mint', 'GONE')`,
  );
  expect(await search('GONE')).toEqual([]);
});

test('what other decoders find changes the entity tags without a new block', async () => {
  const { pool } = harness.database;
  const paths = ['/v1/inscriptions', '/v1/network/protocols?from=0'];
  const tags = await Promise.all(
    paths.map(async (path) => (await harness.api.request(path)).headers.get('etag') ?? ''),
  );
  const ask = () =>
    Promise.all(
      paths.map(async (path, n) => {
        const { status } = await harness.api.request(path, { headers: { 'if-none-match': tags[n] ?? '' } });
        return status;
      }),
    );
  const rename = async (from: string, to: string): Promise<void> => {
    for (const table of ['inscription_kinds', 'protocol_hours'])
      await pool.query(`update ${table} set protocol = $2 where protocol = $1`, [from, to]);
  };
  expect(await ask()).toEqual([304, 304]);
  await rename('kasia', 'later');
  expect(await ask()).toEqual([200, 200]);
  await rename('later', 'kasia');
  expect(await ask()).toEqual([304, 304]);
});
