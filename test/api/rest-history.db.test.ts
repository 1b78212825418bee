/**
 * Clients of kaspa-rest-server page the history of an address by `block_time`. Over an index at
 * rest, each of their loops returns each transaction once. REST_HISTORY_ROUNDS makes a longer
 * chain: 4000 rounds have about 20,000 transactions.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, openHarness } from './harness.ts';

const ROUNDS = Number(process.env['REST_HISTORY_ROUNDS'] ?? 60);
/** Addresses that are paged at the smallest limit: others would take too many requests. */
const MAX_FOR_SINGLE_ITEMS = Number(process.env['REST_HISTORY_SINGLE'] ?? 15);
const WALKERS = 6;

interface Item {
  transaction_id: string;
  block_time: number;
}

let harness: Harness;
let histories: Histories;

/** The transactions of each address, from the rows of the index without any order. */
type Histories = ReadonlyMap<string, ReadonlySet<string>>;

async function readHistories({ database }: Harness): Promise<Histories> {
  const { rows } = await database.pool.query<{ address: string; ids: string[] }>(
    `select s.address, array_agg(distinct encode(t.transaction_id, 'hex')) as ids
     from script_deltas d join scripts s on s.id = d.script_id
       join transactions t on t.id = d.transaction_id
     where s.address is not null group by s.address`,
  );
  return new Map(rows.map(({ address, ids }) => [address, new Set(ids)]));
}

beforeAll(async () => {
  harness = await openHarness({
    seed: 'block times',
    // Late merges, and many parallel blocks with the same transactions.
    simulation: { lateRate: 0.1, redRate: 0.02, reorgRate: 0.02, variantRate: 0.1, width: 2, newAddressRate: 0.1 },
    mine: (dag) => {
      // Two of three blocks have the time of the one before, and others are up to two minutes
      // behind it.
      for (let round = 0; round < ROUNDS; round += 1)
        dag.mineRound(round % 3 === 0 ? 1_000 : 0, { slowMs: round % 5 === 0 ? 120_000 : 0 });
    },
  });
  await harness.atRest();
  histories = await readHistories(harness);
});
afterAll(() => harness.close());

async function readPage({ api }: Harness, address: string, query: string) {
  const response = await api.get(`/rest/addresses/${address}/full-transactions-page?${query}`);
  if (response.status !== 200) throw new Error(response.text);
  const items = response.json as unknown as Item[];
  expect(response.headers.get('x-page-count')).toBe(String(items.length));
  const times = items.map(({ block_time: time }) => time);
  expect(times).toEqual(times.toSorted((one, other) => other - one));
  return {
    items,
    before: response.headers.get('x-next-page-before'),
    after: response.headers.get('x-next-page-after'),
  };
}

type Loop = (of: Harness, address: string, limit: number) => AsyncGenerator<Item[]>;

const loops: Record<string, Loop> = {
  async *before(of, address, limit) {
    for (let next = 0; ; ) {
      const { items } = await readPage(of, address, `limit=${limit}&before=${next}`);
      if (items.length === 0) return;
      yield items;
      next = items.at(-1)?.block_time as number;
    }
  },
  async *after(of, address, limit) {
    for (let next = 1; ; ) {
      const { items } = await readPage(of, address, `limit=${limit}&after=${next}`);
      if (items.length === 0) return;
      yield items;
      next = items[0]?.block_time as number;
    }
  },
  async *headers(of, address, limit) {
    for (let next: string | null = '0'; next !== null; ) {
      const { items, before } = await readPage(of, address, `limit=${limit}&before=${next}`);
      yield items;
      next = before;
    }
  },
  async *'headers from the end'(of, address, limit) {
    for (let next: string | null = '1'; next !== null; ) {
      const { items, after } = await readPage(of, address, `limit=${limit}&after=${next}`);
      yield items;
      next = after;
    }
  },
};

/** Walks the histories of addresses, and describes those that are not returned as they are. */
async function faultsOf(
  of: Harness,
  addresses: [string, ReadonlySet<string>][],
  loop: Loop,
  limit: number,
): Promise<string[]> {
  const faults: string[] = [];
  const walk = async () => {
    for (let next = addresses.pop(); next !== undefined; next = addresses.pop()) {
      const [address, expected] = next;
      const ids: string[] = [];
      for await (const items of loop(of, address, limit)) ids.push(...items.map(({ transaction_id: id }) => id));
      const found = new Set(ids);
      if (found.size !== ids.length || found.size !== expected.size || [...expected].some((id) => !found.has(id)))
        faults.push(`${address}: ${ids.length} items, ${found.size} of ${expected.size} transactions`);
    }
  };
  await Promise.all(Array.from({ length: WALKERS }, walk));
  return faults;
}

test('the chain has equal times, and keys that are not in the order of times', async () => {
  const { rows } = await harness.database.pool.query<{ equal: boolean; late: boolean }>(
    `select exists (select from blocks group by timestamp having count(*) > 1) as equal,
       exists (select from blocks b
         join blocks c on c.id > b.id + 5 and c.timestamp < b.timestamp) as late`,
  );
  expect(rows).toEqual([{ equal: true, late: true }]);
});

describe.each([1, 10, 50, 500])('at a limit of %i', (limit) => {
  test.each(Object.keys(loops))('it returns each transaction once by %s', async (name) => {
    const addresses = [...histories].filter(([, ids]) => limit > 1 || ids.size <= MAX_FOR_SINGLE_ITEMS);
    expect(addresses.length).toBeGreaterThan(10);
    expect(await faultsOf(harness, addresses, loops[name] as Loop, limit)).toEqual([]);
  });
});

describe('while an address has more transactions than a page reads in any case', () => {
  let busy: Harness;
  beforeAll(async () => {
    busy = await openHarness({
      seed: 'a busy address',
      simulation: { newAddressRate: 0 },
      // All within a minute, in which some clocks are two minutes behind.
      mine: (dag) => {
        dag.mine(150);
        for (let round = 0; round < 90; round += 1)
          dag.mineRound(1_000, { slowMs: round % 5 === 4 ? 120_000 : 0, payments: 100 });
      },
    });
    await busy.atRest();
  });
  afterAll(() => busy.close());

  test.each(Object.keys(loops))('it returns each of them once by %s', async (name) => {
    const addresses = [...(await readHistories(busy))].filter(([, ids]) => ids.size > 600);
    expect(addresses.length).toBeGreaterThan(0);
    expect(await faultsOf(busy, addresses, loops[name] as Loop, 10)).toEqual([]);
  });
});
