/**
 * Covenants, their UTXOs and events, against those that follow from the transactions of the index.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { walk } from '../support/listings.ts';
import { APPLICATION_RATE } from '../support/simulated-dag.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 150, simulation: { applicationRate: APPLICATION_RATE } });
  await harness.indexer.stop();
});
afterAll(() => harness?.close());

interface Event {
  covenantId: string;
  transactionId: string;
  kind: string;
  timestamp: number;
  acceptingBlockHash: string;
  inputs: {
    index: number;
    previousOutput: { transactionId: string; index: number };
    amount: string;
    program: unknown;
  }[];
  outputs: { index: number; amount: string; scriptPublicKey: string; spentBy: string | null }[];
}

interface Covenant {
  covenantId: string;
  isLive: boolean;
  isComplete: boolean;
  genesis: {
    transactionId: string;
    previousOutput: { transactionId: string; index: number };
    timestamp: number;
  } | null;
  utxoCount: number;
  balance: string;
  eventCount: number;
  firstSeen: number;
  lastSeen: number;
  template: string | null;
}

interface Utxo {
  covenant: string;
  transactionId: string;
  index: number;
  amount: string;
  address: string | null;
}

/** Returns what accepted transactions do to covenants, oldest first. */
async function listFacts(): Promise<Event[]> {
  const { rows } = await harness.database.pool.query<{ event: Event }>(`
    with accepted as (
      select c.index as chain_index, c.timestamp, encode(c.hash, 'hex') as block,
        a.key as id, a.place
      from chain_blocks c cross join unnest(c.accepted_transactions)
        with ordinality a (key, place)),
    made as (
      select a.id, encode(o.covenant_id, 'hex') as covenant, json_agg(json_build_object(
        'index', o.index, 'amount', o.amount::text, 'scriptPublicKey', encode(s.script, 'hex'),
          'scriptPublicKeyAddress', s.address,
        'spentBy', (select encode(t.transaction_id, 'hex') from transaction_inputs i
          join transactions t on t.id = i.transaction_id
          where i.previous_transaction_id = o.transaction_id and i.previous_index = o.index
            and t.accepting_index is not null))
        order by o.index) as outputs
      from accepted a join transaction_outputs o on o.transaction_id = a.id
        join scripts s on s.id = o.script_id
      where o.covenant_id is not null group by 1, 2),
    spent as (
      select a.id, encode(o.covenant_id, 'hex') as covenant, json_agg(json_build_object(
        'index', i.index, 'previousOutput',
          json_build_object('transactionId', encode(t.transaction_id, 'hex'), 'index', o.index),
        'amount', o.amount::text) order by i.index) as inputs
      from accepted a join transaction_inputs i on i.transaction_id = a.id
      join transaction_outputs o on o.transaction_id = i.previous_transaction_id
        and o.index = i.previous_index
      join transactions t on t.id = o.transaction_id
      where o.covenant_id is not null group by 1, 2)
    select json_build_object(
      'covenantId', covenant, 'transactionId', encode(t.transaction_id, 'hex'),
      'kind', case when inputs is null then 'genesis' when outputs is null then 'burn' else 'transition' end,
      'timestamp', a.timestamp, 'acceptingBlockHash', a.block,
      'inputs', coalesce(inputs, '[]'), 'outputs', coalesce(outputs, '[]')) as event
    from made full join spent using (id, covenant) join accepted a using (id)
      join transactions t using (id)
    order by a.chain_index, a.place`);
  return rows.map(({ event }) => event);
}

async function listUtxos(): Promise<Utxo[]> {
  const { rows } = await harness.database.pool.query<Utxo>(`
    select encode(o.covenant_id, 'hex') as covenant,
      encode(t.transaction_id, 'hex') as "transactionId", u.index, u.amount::text, s.address
    from utxos u join transaction_outputs o on o.transaction_id = u.transaction_id
      and o.index = u.index
    join transactions t on t.id = u.transaction_id join scripts s on s.id = u.script_id
    where o.covenant_id is not null order by u.transaction_id desc, u.index desc`);
  return rows;
}

const read = async (
  template: string,
  values: Record<string, string> = {},
  query: Record<string, string | number> = {},
) => {
  const { status, json } = await harness.api.getChecked(template, values, query);
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
};

const listCovenants = (query: Record<string, string> = {}, limit = 100): Promise<Covenant[]> =>
  walk<Covenant>(
    harness.api,
    {
      template: '/v1/covenants',
      query,
      field: 'covenants',
      cursorOf: ({ lastSeen, covenantId }) => `${lastSeen}:${covenantId}`,
    },
    limit,
  );

test('it shows each covenant with its genesis, sums and times', async () => {
  const facts = await listFacts();
  const utxos = await listUtxos();
  const byId = Map.groupBy(facts, ({ covenantId }) => covenantId);
  const listed = await listCovenants();
  expect(listed.map(({ covenantId }) => covenantId).toSorted()).toEqual([...byId.keys()].toSorted());
  expect(new Set(facts.map(({ kind }) => kind))).toEqual(new Set(['genesis', 'transition', 'burn']));
  for (const covenant of listed) {
    const events = byId.get(covenant.covenantId) ?? [];
    const held = utxos.filter((utxo) => utxo.covenant === covenant.covenantId);
    const [first] = events;
    expect(covenant).toMatchObject({
      isComplete: true,
      isLive: held.length > 0,
      utxoCount: held.length,
      balance: String(held.reduce((sum, { amount }) => sum + BigInt(amount), 0n)),
      eventCount: events.length,
      genesis: { transactionId: first?.transactionId, timestamp: first?.timestamp },
    });
    expect(first?.kind).toBe('genesis');
    expect(covenant.firstSeen).toBeGreaterThanOrEqual(first?.timestamp ?? 0);
    expect(covenant.lastSeen).toBeGreaterThanOrEqual(events.at(-1)?.timestamp ?? 0);
    const { json } = await harness.api.get(`/v1/transactions/${first?.transactionId}`);
    const { inputs, outputs } = json['transaction'] as {
      inputs: { previousOutput: { transactionId: string; index: number } }[];
      outputs: { covenant?: { covenantId: string; authorizingInput: number } }[];
    };
    const made = outputs.find((output) => output.covenant?.covenantId === covenant.covenantId)?.covenant;
    expect(inputs[made?.authorizingInput ?? -1]?.previousOutput).toMatchObject(covenant.genesis?.previousOutput ?? {});
  }
});

const order = (covenants: readonly Covenant[], time: 'firstSeen' | 'lastSeen') =>
  covenants.toSorted((a, b) => b[time] - a[time] || (a.covenantId < b.covenantId ? 1 : -1));

test('it lists covenants by their last event or by their creation, and filters them', async () => {
  const all = await listCovenants();
  expect(all).toEqual(order(all, 'lastSeen'));
  expect(await listCovenants({}, 3)).toEqual(all);
  expect(await listCovenants({ order: 'created' }, 7)).toEqual(order(all, 'firstSeen'));
  const live = all.filter(({ isLive }) => isLive);
  expect(live.length).toBeGreaterThan(0);
  expect(live.length).toBeLessThan(all.length);
  expect(await listCovenants({ live_only: 'true' }, 4)).toEqual(live);
  expect(await listCovenants({ live_only: 'true', complete_only: 'true', order: 'created' }, 4)).toEqual(
    order(live, 'firstSeen'),
  );
  expect(await listCovenants({ template: 'ab'.repeat(32) })).toEqual([]);
});

const behind = async (cursor: string) =>
  (await read('/v1/covenants', {}, { limit: 100, starting_after: cursor }))['covenants'];

const statusOf = async (cursor: string) =>
  (await harness.api.getChecked('/v1/covenants', {}, { ending_before: cursor })).status;

test('it continues behind a position, behind where a covenant is now, and refuses unknown ones', async () => {
  const all = await listCovenants();
  const { covenantId, lastSeen } = all[5] as Covenant;
  expect(await behind(covenantId)).toEqual(all.slice(6, 106));
  expect(await behind(`${lastSeen}:0x${covenantId.toUpperCase()}`)).toEqual(all.slice(6, 106));
  expect(await behind(`0:${covenantId}`)).toEqual([]);
  expect(await statusOf('ab'.repeat(32))).toBe(404);
  expect(await statusOf(`1:${'ab'.repeat(32)}`)).toBe(404);
  for (const malformed of ['', 'x', `:${covenantId}`, `-1:${covenantId}`, `${'9'.repeat(16)}:${covenantId}`]) {
    expect(await statusOf(malformed), malformed).toBe(400);
  }
});

test('it looks covenants up by id, one or several', async () => {
  const all = await listCovenants();
  const [first, second] = all as [Covenant, Covenant];
  expect(await read('/v1/covenants/{covenantId}', { covenantId: first.covenantId })).toEqual({ covenant: first });
  const unknown = 'ab'.repeat(32);
  const { status } = await harness.api.getChecked('/v1/covenants/{covenantId}', { covenantId: unknown });
  expect(status).toBe(404);
  const covenantIds = [second, first, second].map(({ covenantId }) => covenantId);
  const { json } = await harness.api.postChecked('/v1/covenants', { covenantIds: [unknown, ...covenantIds] });
  expect(json).toEqual({ covenants: [second, first, second] });
  const tooMany = await harness.api.postChecked('/v1/covenants', { covenantIds: Array(501).fill(unknown) });
  expect(tooMany.status).toBe(400);
});

test('it lists the UTXOs of a covenant, and covenants by the addresses of their UTXOs', async () => {
  const utxos = await listUtxos();
  const byCovenant = Map.groupBy(utxos, ({ covenant }) => covenant);
  for (const { covenantId } of await listCovenants()) {
    const listed = await walk<Utxo>(
      harness.api,
      {
        template: '/v1/covenants/{covenantId}/utxos',
        values: { covenantId },
        field: 'utxos',
        cursorOf: ({ transactionId, index }) => `${transactionId}:${index}`,
      },
      2,
    );
    expect(listed.map(({ transactionId, index, amount }) => ({ transactionId, index, amount }))).toEqual(
      (byCovenant.get(covenantId) ?? []).map(({ transactionId, index, amount }) => ({ transactionId, index, amount })),
    );
  }
  const byAddress = Map.groupBy(utxos, ({ address }) => address);
  for (const [address, held] of [...byAddress].slice(0, 20)) {
    if (address === null) continue;
    const listed = await walk<Covenant>(
      harness.api,
      {
        template: '/v1/addresses/{address}/covenants',
        values: { address },
        field: 'covenants',
        cursorOf: ({ covenantId }) => covenantId,
      },
      1,
    );
    expect(listed.map(({ covenantId }) => covenantId)).toEqual(
      [...new Set(held.map(({ covenant }) => covenant))].toSorted(),
    );
  }
});

const withoutPrograms = ({ inputs, ...event }: Event) => ({
  ...event,
  inputs: inputs.map(({ index, previousOutput, amount }) => ({ index, previousOutput, amount })),
});

test('it lists the events of each covenant, and those of all', async () => {
  const facts = (await listFacts()).toReversed();
  const byCovenant = Map.groupBy(facts, ({ covenantId }) => covenantId);
  const cursorOf = ({ transactionId }: Event) => transactionId;
  for (const [covenantId, expected] of byCovenant) {
    const template = '/v1/covenants/{covenantId}/events';
    const listed = await walk<Event>(harness.api, { template, values: { covenantId }, field: 'events', cursorOf }, 3);
    expect(listed.map(withoutPrograms)).toEqual(expected);
  }
  const newest: Event[] = [];
  for (let cursor: Record<string, string> | undefined = {}; cursor !== undefined; ) {
    const json = await read('/v1/covenant-events', {}, { limit: 10, ...cursor });
    newest.push(...(json['events'] as Event[]));
    const { hasMore } = json['metadata'] as { hasMore: boolean };
    cursor = hasMore ? { starting_after: newest.at(-1)?.transactionId ?? '' } : undefined;
  }
  const inOrder = [...Map.groupBy(facts, ({ transactionId }) => transactionId).values()].flatMap((ofTransaction) =>
    ofTransaction.toSorted((a, b) => (a.covenantId < b.covenantId ? 1 : -1)),
  );
  expect(newest.map(withoutPrograms)).toEqual(inOrder.map(withoutPrograms));
});

test('it responds 409 to a cursor that is not accepted, and 404 to one of no event', async () => {
  const { rows } = await harness.database.pool.query<{ refused: string; other: string }>(`
    select (select encode(transaction_id, 'hex') from transactions where accepting_index is null
      order by id limit 1) as refused,
      (select encode(transaction_id, 'hex') from transactions t where accepting_index is not null
        and not exists (select from covenant_events e where e.transaction_id = t.id) order by id
          limit 1) as other`);
  const [{ refused, other } = { refused: '', other: '' }] = rows;
  const [{ covenantId } = { covenantId: '' }] = await listCovenants();
  for (const [template, values] of [
    ['/v1/covenant-events', {}],
    ['/v1/covenants/{covenantId}/events', { covenantId }],
  ] as const) {
    const statusOfCursor = async (cursor: string) =>
      (await harness.api.getChecked(template, values, { starting_after: cursor })).status;
    expect(await statusOfCursor(refused)).toBe(409);
    expect(await statusOfCursor(other)).toBe(404);
    expect(await statusOfCursor('ab'.repeat(32))).toBe(404);
    expect(await statusOfCursor('x')).toBe(400);
  }
  for (const listing of ['utxos', 'events']) {
    const values = { covenantId: 'ab'.repeat(32) };
    expect((await harness.api.getChecked(`/v1/covenants/{covenantId}/${listing}`, values)).status).toBe(404);
  }
});

test('it ends a page within a transaction only if that has more events than the page has room for', async () => {
  const { pool } = harness.database;
  // One more covenant for each of the newest three transactions with events, and 50 for the fourth.
  await pool.query(`
    with chosen as (
      select transaction_id, chain_index, position, kind,
        row_number() over (order by chain_index desc, position desc) as place
      from (select distinct on (chain_index, position) * from covenant_events) e
        order by chain_index desc, position desc limit 4),
    made as (
      insert into covenants (event_count, balance, first_seen, last_seen, utxo_count,
        is_complete, covenant_id)
      select 1, 0, 0, 0, 0, true, sha256((n || ' covenant')::bytea) from generate_series(1, 53) n
        returning id),
    numbered as (select id, row_number() over (order by id) as n from made)
    insert into covenant_events (covenant_id, chain_index, transaction_id, position, kind)
    select id, chain_index, transaction_id, position, kind from numbered
      join chosen on place = least(n, 4)`);
  const { rows } = await pool.query<{ id: string }>(`
    select encode(t.transaction_id, 'hex') || ':' || encode(c.covenant_id, 'hex') as id
    from covenant_events e join transactions t on t.id = e.transaction_id
      join covenants c on c.id = e.covenant_id
    order by e.chain_index desc, e.position desc, c.covenant_id desc`);
  const all = rows.map(({ id }) => id);
  for (const limit of [1, 2, 3, 20, 51, 100]) {
    for (const direction of ['starting_after', 'ending_before'] as const) {
      const seen: string[] = [];
      let cursor: string | undefined = direction === 'starting_after' ? undefined : all.at(-1);
      for (;;) {
        const json = await read(
          '/v1/covenant-events',
          {},
          { limit, ...(cursor !== undefined && { [direction]: cursor }) },
        );
        const page = (json['events'] as Event[]).map(
          ({ transactionId, covenantId }) => `${transactionId}:${covenantId}`,
        );
        const { hasMore, scannedTo, count } = json['metadata'] as {
          hasMore: boolean;
          scannedTo?: string;
          count: number;
        };
        expect(count).toBe(page.length);
        expect(page.length).toBeLessThanOrEqual(limit);
        seen.splice(direction === 'starting_after' ? seen.length : 0, 0, ...page);
        if (!hasMore) break;
        expect(page.length).toBeGreaterThan(0);
        const edge = (direction === 'starting_after' ? page.at(-1) : page[0]) ?? '';
        const transactionIds = new Set(page.map((id) => id.slice(0, 64)));
        if (scannedTo !== undefined) expect([...transactionIds]).toEqual([scannedTo.slice(0, 64)]);
        cursor = scannedTo ?? edge.slice(0, 64);
      }
      expect(seen).toEqual(direction === 'starting_after' ? all : all.slice(0, -1));
    }
  }
});

test('it lists a transaction that was accepted before a gap and again after it once', async () => {
  const { pool } = harness.database;
  const [{ covenantId } = { covenantId: '' }] = (await listCovenants()).toSorted((a, b) => b.eventCount - a.eventCount);
  const list = async () => [
    await walk<Event>(
      harness.api,
      {
        template: '/v1/covenants/{covenantId}/events',
        values: { covenantId },
        field: 'events',
        cursorOf: ({ transactionId }) => transactionId,
      },
      1,
    ),
    await walk<Event>(
      harness.api,
      {
        template: '/v1/covenant-events',
        field: 'events',
        cursorOf: (event) => `${event.transactionId}:${event.covenantId}`,
      },
      1,
    ),
  ];
  const expected = await list();
  await pool.query(`insert into gaps (after_block_hash, before_block_hash, reason) values ('', '', 'a test')`);
  // The newest events, as if their transactions had been accepted with the first event, too.
  await pool.query(
    `insert into covenant_events (covenant_id, chain_index, transaction_id, position, kind)
     select e.covenant_id, min(e.chain_index) over (), e.transaction_id, 1000000 + e.position, e.kind
       from covenant_events e join covenants c on c.id = e.covenant_id
      where c.covenant_id = decode($1, 'hex') order by e.chain_index desc, e.position desc limit 2`,
    [covenantId],
  );
  expect(await list()).toEqual(expected);
});
