/**
 * The richest addresses, and what one address sums up to, against plain accounting over the DAG of
 * the simulated node.
 */
import { type OwnerTag, upsertTags } from '@kasgres/database';
import { insertCluster } from '@kasgres/database/testing';
import { acceptedBy } from '@kasgres/devnet';
import { scriptToAddress, toHex } from '@kasgres/kaspa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Accounts, type Change, openAccounts, OTHER_NETWORK, someAddresses, STRANGER } from './accounts.ts';
import { walk } from '../support/listings.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
let accounts: Accounts;

beforeAll(async () => {
  harness = await openHarness({ rounds: 600 });
  accounts = await openAccounts(harness);
});
afterAll(() => harness.close());

interface RestAddress {
  address: string;
  balance: string;
  tag: object | null;
}

const richList = (query: Record<string, string> = {}) => ({
  template: '/v1/addresses',
  query,
  field: 'addresses',
  cursorOf: ({ balance, address }: RestAddress) => `${balance}:${address}`,
});

const balancesOf = (json: Record<string, unknown>): bigint[] =>
  (json['addresses'] as RestAddress[]).map((item) => BigInt(item.balance));

const byAddress = (a: RestAddress, b: RestAddress): number => (a.address < b.address ? -1 : 1);

describe('/v1/addresses', () => {
  test('lists all addresses with a balance once, by balance', async () => {
    const { holders, balance, utxosWithoutAddress } = accounts;
    const listed = await walk(harness.api, richList(), 33);
    expect(listed.map((item) => BigInt(item.balance))).toEqual(holders.map(balance));
    const expected = holders.map((address) => ({ address, balance: String(balance(address)), tag: null }));
    expect(listed.toSorted(byAddress)).toEqual(expected.toSorted(byAddress));
    // Such as have no address hold something, too, and are left out.
    expect(utxosWithoutAddress.length).toBeGreaterThan(0);
  });

  test("continues at the cursor's position even if its balance changed", async () => {
    const { addresses, holders, balance, changes } = accounts;
    const emptied = addresses.find((address) => balance(address) === 0n && changes(address).length > 0) ?? '';
    const LIMIT = 3;
    // No holder has exactly so much.
    const once = balance(holders[5] as string) + 1n;
    expect(holders.map(balance)).not.toContain(once);
    for (const address of [emptied, holders[0] as string, holders.at(-1) as string]) {
      const cursor = `${once}:${address}`;
      const behind = await harness.api.getChecked('/v1/addresses', {}, { starting_after: cursor, limit: LIMIT });
      const poorer = holders.map(balance).filter((each) => each < once);
      expect(balancesOf(behind.json)).toEqual(poorer.slice(0, LIMIT));
      const before = await harness.api.getChecked('/v1/addresses', {}, { ending_before: cursor, limit: LIMIT });
      const richer = holders.map(balance).filter((each) => each > once);
      expect(balancesOf(before.json)).toEqual(richer.slice(-LIMIT));
    }
  });

  test('continues at the current position of a plain address, which is a 409 if it holds nothing', async () => {
    const { addresses, holders, balance, changes } = accounts;
    const sixth = { starting_after: holders[5] as string, limit: 2 };
    const { json } = await harness.api.getChecked('/v1/addresses', {}, sixth);
    expect(balancesOf(json)).toEqual(holders.slice(6, 8).map(balance));
    const emptied = addresses.find((address) => balance(address) === 0n && changes(address).length > 0) ?? '';
    for (const direction of ['starting_after', 'ending_before']) {
      const refused = await harness.api.getChecked('/v1/addresses', {}, { [direction]: emptied });
      expect(refused.status).toBe(409);
      expect(refused.json['message']).toContain(`${emptied} has no balance now`);
    }
  });

  test.each([
    [STRANGER, 404],
    [OTHER_NETWORK, 400],
    ['kaspasim:', 400],
    ['ab'.repeat(32), 400],
    [`5:${STRANGER}`, 404],
    [`5:${OTHER_NETWORK}`, 400],
    ['5:', 400],
    ['5', 400],
    [`-5:${STRANGER}`, 400],
    [`2900000000000000000:${STRANGER}`, 404],
    [`2900000000000000001:${STRANGER}`, 400],
    [`9999999999999999999:${STRANGER}`, 400],
    [`99999999999999999999:${STRANGER}`, 400],
  ])('%s is no cursor', async (cursor, status) => {
    for (const direction of ['starting_after', 'ending_before']) {
      const response = await harness.api.getChecked('/v1/addresses', {}, { [direction]: cursor });
      expect(response.status).toBe(status);
      if (status === 400) expect(response.json['details']).toMatchObject([{ path: direction }]);
    }
  });
});

/**
 * By how many accepted coinbases, and how many other accepted transactions, each address was paid.
 */
function countPaid(): Map<string, { rewards: number; payments: number }> {
  const { dag, network } = harness.simulatedDag.node;
  const paid = new Map<string, { rewards: number; payments: number }>();
  for (const { transaction } of dag.chainBlocks.flatMap((block) => acceptedBy(block))) {
    const scripts = new Map(transaction.outputs.map(({ scriptPublicKey: to }) => [toHex(to.script), to]));
    for (const script of scripts.values()) {
      const address = scriptToAddress(script, network.addressPrefix) ?? '';
      const { rewards, payments } = paid.get(address) ?? { rewards: 0, payments: 0 };
      const isReward = transaction.inputs.length === 0;
      paid.set(address, { rewards: rewards + Number(isReward), payments: payments + Number(!isReward) });
    }
  }
  return paid;
}

describe('one address', () => {
  const TEMPLATE = '/v1/addresses/{address}';

  test('has the totals of the DAG', async () => {
    for (const address of someAddresses(accounts, 5)) {
      const { json } = await harness.api.getChecked(TEMPLATE, { address });
      const transactions = await walk(harness.api, transactionsOf(address), 100);
      expect(json['address']).toEqual({
        address,
        balance: String(accounts.balance(address)),
        utxoCount: accounts.utxos(address).length,
        transactionCount: accounts.transactions(address).size,
        firstSeen: transactions.at(-1)?.blockTime,
        lastSeen: transactions[0]?.blockTime,
        tag: null,
        automaticLabels: expect.any(Array) as string[],
      });
    }
  });

  const transactionsOf = (address: string) => ({
    template: `${TEMPLATE}/transactions`,
    values: { address },
    field: 'transactions',
    cursorOf: (transaction: { transactionId: string; blockTime: number }) => transaction.transactionId,
  });

  test('has the labels of its behaviour', async () => {
    const given = new Set<string>();
    const paid = countPaid();
    for (const address of someAddresses(accounts, 20)) {
      const { json } = await harness.api.getChecked(TEMPLATE, { address });
      const { automaticLabels: labels } = json['address'] as { automaticLabels: string[] };
      const { rewards, payments } = paid.get(address) ?? { rewards: 0, payments: 0 };
      expect(labels.filter((label) => label === 'miner' || label === 'reused')).toEqual([
        ...(rewards > 0 ? ['miner'] : []),
        ...(rewards + payments > 1 ? ['reused'] : []),
      ]);
      given.add(labels.join());
    }
    expect([...given]).toEqual(expect.arrayContaining(['', 'reused', 'miner,reused']));
  });

  test('that was never seen has a zero balance', async () => {
    const { status, json } = await harness.api.getChecked(TEMPLATE, { address: STRANGER });
    expect(status).toBe(200);
    expect(json['address']).toEqual({
      address: STRANGER,
      balance: '0',
      utxoCount: 0,
      transactionCount: 0,
      firstSeen: null,
      lastSeen: null,
      tag: null,
      automaticLabels: [],
    });
  });

  test.each(['', '/utxos', '/balance-history'])('of another network is refused: %s', async (path) => {
    const response = await harness.api.getChecked(TEMPLATE + path, { address: OTHER_NETWORK });
    expect(response.status).toBe(400);
    expect(response.json['details']).toEqual([{ path: 'address', message: 'is not an address of simnet' }]);
  });
});

async function putTogether(addresses: string[], tag?: OwnerTag): Promise<void> {
  const { rows } = await harness.database.pool.query<{ id: bigint }>('select id from scripts where address = any($1)', [
    addresses,
  ]);
  await insertCluster(
    harness.database.pool,
    rows.map(({ id }) => id),
    tag,
  );
}

describe('tags', () => {
  const own = { name: 'Exchange', link: 'https://example.org', labels: ['exchange'] };
  const ofCluster = { name: 'Pool', link: '', labels: ['pool'] };
  let tags: Map<string, object>;

  beforeAll(async () => {
    const [both = '', onlyOwn = '', onlyCluster = '', unnamed = ''] = accounts.holders.filter(
      (_, place) => place % 5 === 3,
    );
    await upsertTags(harness.database.pool, [
      { address: both, ...own },
      { address: onlyOwn, ...own },
      { address: STRANGER, ...own },
    ]);
    await putTogether([both, onlyCluster], ofCluster);
    await putTogether([unnamed]);
    tags = new Map([
      [both, { address: both, ...own }],
      [onlyOwn, { address: onlyOwn, ...own }],
      [onlyCluster, { address: onlyCluster, ...ofCluster, isGuessed: true }],
    ]);
  });

  test('are part of addresses: their own, else that of their cluster', async () => {
    const listed = await walk(harness.api, richList(), 100);
    for (const { address, tag } of listed) expect(tag).toEqual(tags.get(address) ?? null);
  });

  test('restrict the listing with tagged_only', async () => {
    const all = await walk(harness.api, richList(), 100);
    for (const limit of [1, 2, 100]) {
      const tagged = await walk(harness.api, richList({ tagged_only: 'true' }), limit);
      expect(tagged).toEqual(all.filter(({ tag }) => tag !== null));
      expect(tagged).toHaveLength(tags.size);
    }
    // An address without a tag still has its place.
    const [first] = all;
    const { json } = await harness.api.getChecked(
      '/v1/addresses',
      {},
      { tagged_only: 'true', starting_after: first?.address ?? '' },
    );
    expect(json['addresses']).toEqual(all.slice(1).filter(({ tag }) => tag !== null));
  });

  test('are part of a single address, seen or not', async () => {
    for (const [address, tag] of [...tags, [STRANGER, { address: STRANGER, ...own }]] as const) {
      const { json } = await harness.api.getChecked('/v1/addresses/{address}', { address });
      expect(json['address']).toMatchObject({ address, tag });
    }
  });

  test('it changes the entity tag when a name changes', async () => {
    const address = [...tags.keys()].at(-1) ?? '';
    const { json } = await harness.api.request(`/v1/addresses/${address}/transactions?limit=1`);
    const [{ transactionId: id, blockHashes }] = json['transactions'] as [
      { transactionId: string; blockHashes: string[] },
    ];
    const { json: block } = await harness.api.request(`/v1/blocks/${blockHashes[0]}`);
    const score = (block['block'] as { daaScore: string }).daaScore;
    for (const path of [
      `/v1/addresses/${address}`,
      '/v1/addresses?limit=100',
      `/v1/addresses/${address}/transactions?include=tags`,
      `/v1/transactions/${id}?include=tags,programs`,
      `/v1/blocks/${blockHashes[0]}?include=tags`,
      `/v1/blocks/${blockHashes[0]}/transactions?include=tags`,
      `/v1/blocks/daa-score/${score}/${score}?include=tags`,
    ]) {
      const etag = (await harness.api.request(path)).headers.get('etag') ?? '';
      const ask = () => harness.api.request(path, { headers: { 'if-none-match': etag } });
      expect((await ask()).status).toBe(304);
      await harness.database.pool.query(`update clusters set name = name || '!' where name is not null`);
      expect((await ask()).status).toBe(200);
    }
  });
});

const sumOf = (changes: readonly Change[]): bigint => changes.reduce((sum, { amount }) => sum + amount, 0n);

describe('the balance history', () => {
  const TEMPLATE = '/v1/addresses/{address}/balance-history';
  const HOUR = 3_600_000;
  const DAY = 24 * HOUR;
  /** When the interval ends that a time is in. */
  const endOf = {
    hour: (time: number) => time - (time % HOUR) + HOUR,
    day: (time: number) => time - (time % DAY) + DAY,
    month: (time: number) => Date.UTC(new Date(time).getUTCFullYear(), new Date(time).getUTCMonth() + 1),
  };

  test.each(['hour', 'day', 'month'] as const)('per %s equals plain accounting', async (interval) => {
    const times = harness.simulatedDag.node.dag.chainBlocks.map(({ header }) => Number(header.timestamp));
    const sinkTime = Math.max(...times);
    for (const address of someAddresses(accounts, 20)) {
      const changes = accounts.changes(address);
      // An amount that comes and goes within an hour changes nothing.
      const changedHours = [...Map.groupBy(changes, ({ time }) => endOf.hour(time) - HOUR)].flatMap(([hour, some]) =>
        sumOf(some) === 0n ? [] : [hour],
      );
      const end = endOf[interval](sinkTime);
      const history: { timestamp: number; balance: string }[] = [];
      for (
        let timestamp = endOf[interval](Math.min(...changedHours));
        timestamp <= end;
        timestamp = endOf[interval](timestamp)
      ) {
        const until = changes.filter(({ time }) => time < timestamp);
        history.push({ timestamp, balance: String(sumOf(until)) });
      }
      const { json } = await harness.api.getChecked(TEMPLATE, { address }, { interval });
      expect(json, address).toEqual({ history });
      expect(history.at(-1)?.balance ?? '0').toBe(String(accounts.balance(address)));
    }
  });

  test('is per day by default, and refuses an unknown interval', async () => {
    const [address = ''] = accounts.holders;
    const byDay = await harness.api.getChecked(TEMPLATE, { address }, { interval: 'day' });
    expect((byDay.json['history'] as object[]).length).toBeGreaterThan(1);
    expect((await harness.api.getChecked(TEMPLATE, { address })).json).toEqual(byDay.json);
    for (const interval of ['week', '', 'DAY']) {
      expect((await harness.api.getChecked(TEMPLATE, { address }, { interval })).status).toBe(400);
    }
  });

  test('of an address that was never seen is empty', async () => {
    expect((await harness.api.getChecked(TEMPLATE, { address: STRANGER })).json).toEqual({ history: [] });
  });

  /**
   * Changes of years that no test can wait for: an old change is put under those that the indexer
   * wrote.
   */
  test('per hour goes back 10,000 hours, and begins with the previous balance', async () => {
    const [address = ''] = accounts.holders;
    const read = async (interval: string) => {
      const { json } = await harness.api.getChecked(TEMPLATE, { address }, { interval });
      return json['history'] as { timestamp: number; balance: string }[];
    };
    const recent = await read('hour');
    const oldHour = (recent[0]?.timestamp ?? 0) / HOUR - 20_000;
    await harness.database.pool.query(
      `with old as (
         insert into previous_balance_changes (script_id, hour, change) select id, $2, 7
           from scripts where address = $1 returning script_id)
       update balances b set balance = b.balance + 7 from old where b.script_id = old.script_id`,
      [address, oldHour],
    );
    const hours = await read('hour');
    expect(hours).toHaveLength(10_000);
    expect(hours.slice(-recent.length)).toEqual(
      recent.map(({ timestamp, balance }) => ({ timestamp, balance: String(BigInt(balance) + 7n) })),
    );
    expect(new Set(hours.slice(0, -recent.length).map(({ balance }) => balance))).toEqual(new Set(['7']));
    const [firstDay] = await read('day');
    expect(firstDay).toEqual({ timestamp: endOf.day(oldHour * HOUR), balance: '7' });
  });
});
