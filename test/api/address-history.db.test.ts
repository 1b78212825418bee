/**
 * The history of an address: filters, CSV, tags, and ranges of the balance history, against the
 * unfiltered listing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { walk } from '../support/listings.ts';
import { type Harness, openHarness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 400 });
  await harness.atRest();
});
afterAll(() => harness.close());

const get = async (template: string, values: Record<string, string> = {}, query: Record<string, string> = {}) =>
  (await harness.api.getChecked(template, values, query)).json;

async function one<Row extends object>(text: string): Promise<Row> {
  const { rows } = await harness.database.pool.query<Row>(text);
  return rows[0] as Row;
}

interface Moved {
  blockTime: number;
  fee: string | null;
  transactionId: string;
  balanceChange: string;
  isAccepted: boolean;
  acceptingBlockHash: string | null;
}

let address: string;
let all: Moved[];
/** Chain times by chain block. */
let times: Map<string, number>;

const kas = (sompi: string): string => {
  const digits = sompi.replace('-', '').padStart(9, '0');
  return `${sompi.startsWith('-') ? '-' : ''}${digits.slice(0, -8)}.${digits.slice(-8)}`;
};

const cursorOf = ({ transactionId }: Moved): string => transactionId;
const timeOf = ({ acceptingBlockHash }: Moved): number => times.get(acceptingBlockHash ?? '') as number;
const received = ({ balanceChange }: Moved): boolean => BigInt(balanceChange) > 0n;

const askForCsv = (query = '', of = address) =>
  harness.api.request(`/v1/addresses/${of}/transactions${query}`, { headers: { accept: 'text/csv' } });

const history = async (query: Record<string, string>) =>
  (await get('/v1/addresses/{address}/balance-history', { address }, { interval: 'hour', ...query }))['history'] as {
    timestamp: number;
    balance: string;
  }[];

const list = async (query: Record<string, string> = {}) => {
  const template = '/v1/addresses/{address}/transactions';
  return walk(harness.api, { template, values: { address }, query, field: 'transactions', cursorOf }, 7);
};

/** Sums the balance changes of a CSV, in sompi. */
const sumOf = async (query: string) => {
  const [header = '', ...lines] = (await askForCsv(query)).text.trimEnd().split('\n');
  const column = header.split(',').indexOf('balance_change_sompi');
  return lines.reduce((sum, line) => sum + BigInt(line.split(',')[column] as string), 0n);
};

describe('the transactions of an address', () => {
  beforeAll(async () => {
    ({ address } = await one<{ address: string }>(
      'select address from balances join scripts on id = script_id where sending_count > 3 order by transaction_count desc limit 1',
    ));
    all = await list();
    const { rows } = await harness.database.pool.query<{ hash: string; time: bigint }>(
      "select encode(hash, 'hex') as hash, chain_time as time from chain_blocks",
    );
    times = new Map(rows.map(({ hash, time }) => [hash, Number(time)]));
  });

  test('are filtered by time of acceptance, direction and amount, also together', async () => {
    const accepted = all.filter(({ isAccepted }) => isAccepted);
    const sorted = accepted.map(timeOf).toSorted((one, other) => one - other);
    const [from, to] = [
      sorted[Math.floor(sorted.length / 4)] as number,
      sorted[Math.floor(sorted.length / 2)] as number,
    ];
    const within = (moved: Moved) => timeOf(moved) >= from && timeOf(moved) < to;
    const amounts = all.map(({ balanceChange }) => BigInt(balanceChange));
    const minimum = amounts
      .map((amount) => (amount < 0n ? -amount : amount))
      .toSorted((one, other) => Number(one - other))[Math.floor(all.length / 2)] as bigint;
    const large = ({ balanceChange }: Moved) => BigInt(balanceChange) >= minimum || -BigInt(balanceChange) >= minimum;
    expect(await list({ from: String(from), to: String(to) })).toEqual(accepted.filter(within));
    expect(await list({ from: String(sorted.at(-1)) })).toEqual(
      accepted.filter((moved) => timeOf(moved) >= (sorted.at(-1) as number)),
    );
    expect(await list({ from: String(Date.now() + 86_400_000_000) })).toEqual([]);
    expect(await list({ to: '1' })).toEqual([]);
    expect(await list({ direction: 'received' })).toEqual(all.filter(received));
    expect(await list({ direction: 'sent' })).toEqual(all.filter(({ balanceChange }) => BigInt(balanceChange) < 0n));
    expect(await list({ min_amount: String(minimum) })).toEqual(all.filter(large));
    expect(await list({ from: String(from), direction: 'received', min_amount: String(minimum) })).toEqual(
      accepted.filter((moved) => timeOf(moved) >= from && received(moved) && large(moved)),
    );
    expect(accepted.filter(within).length).toBeGreaterThan(0);
    for (const query of ['from=2&to=1', 'direction=both', 'min_amount=-1', 'include=all']) {
      expect((await harness.api.request(`/v1/addresses/${address}/transactions?${query}`)).status).toBe(400);
    }
  });

  test('are found by time also if they were written long before they were accepted', async () => {
    const { pool } = harness.database;
    const sorted = all.filter(({ isAccepted }) => isAccepted).map(timeOf);
    const [from, to] = [Math.min(...sorted) + 1, Math.max(...sorted)];
    const expected = all.filter((moved) => moved.isAccepted && timeOf(moved) >= from && timeOf(moved) < to);
    // As if a million other transactions had been written since.
    await pool.query('update chain_blocks set highest_transaction = highest_transaction + 1000000');
    expect(await list({ from: String(from), to: String(to) })).toEqual(expected);
    const csv = (await askForCsv(`?from=${from}&to=${to}`)).text.trimEnd().split('\n');
    expect(csv).toHaveLength(1 + expected.length);
    await pool.query('update chain_blocks set highest_transaction = highest_transaction - 1000000');
  });

  test('any parameters can be combined', async () => {
    const cursor = all.at(20)?.transactionId;
    const choices = [
      ['', `starting_after=${cursor}`, `ending_before=${cursor}`],
      ['', 'direction=received', 'direction=sent'],
      ...['accepted_only=true', 'include_payload=true', 'include=tags', 'from=0', 'min_amount=1'].map((one) => [
        '',
        one,
      ]),
    ];
    const queries = choices.reduce(
      (before, next) => before.flatMap((query) => next.map((one) => `${query}&${one}`)),
      ['limit=2'],
    );
    const statuses = new Set<number>();
    for (const query of queries) {
      const response = await harness.api.request(`/v1/addresses/${address}/transactions?${query}`);
      statuses.add(response.status);
    }
    expect(statuses).toEqual(new Set([200]));
  });

  test('come as CSV if that is asked for', async () => {
    const response = await askForCsv();
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const json = await harness.api.request(`/v1/addresses/${address}/transactions`);
    expect(response.headers.get('x-kasgres-sink')).toBe(json.headers.get('x-kasgres-sink'));
    expect(response.headers.get('etag')).not.toBe(json.headers.get('etag'));
    const [header = '', ...lines] = response.text.trimEnd().split('\n');
    const rows = lines.map((line) =>
      Object.fromEntries(header.split(',').map((name, i) => [name, line.split(',')[i]])),
    );
    expect(rows.map(({ transaction_id: id, balance_change_sompi: change }) => [id, change])).toEqual(
      all.map(({ transactionId, balanceChange, isAccepted }) => [transactionId, isAccepted ? balanceChange : '0']),
    );
    expect(all.some(({ isAccepted }) => !isAccepted)).toBe(true);
    for (const [place, row] of rows.entries()) {
      const { blockTime, fee, isAccepted, transactionId } = all[place] as Moved;
      expect(Date.parse(row['block_time'] as string)).toBe(blockTime);
      expect(row['TxHash']).toBe(transactionId);
      const paysFee = isAccepted && row['amount_sent_sompi'] !== '0';
      expect([row['fee_sompi'], row['fee_kas']]).toEqual(paysFee ? [fee, kas(fee as string)] : ['', '']);
      for (const name of ['amount_sent', 'amount_received', 'balance_change'])
        expect(row[`${name}_kas`]).toBe(kas(row[`${name}_sompi`] as string));
      expect(row['Amount']).toBe(row['balance_change_kas']);
    }
    expect(rows.map(({ accepted_at: at }) => (at === '' ? null : Date.parse(at as string)))).toEqual(
      all.map(({ acceptingBlockHash }) => (acceptingBlockHash === null ? null : times.get(acceptingBlockHash))),
    );
    const received = (await askForCsv('?direction=received')).text.trimEnd().split('\n');
    expect(received).toHaveLength(1 + all.filter(({ balanceChange }) => BigInt(balanceChange) > 0n).length);
    expect((await askForCsv('?from=2&to=1')).status).toBe(400);
    for (const accept of ['application/json, text/csv;q=0.5', 'text/csv;q=0', '*/*']) {
      const json = await harness.api.request(`/v1/addresses/${address}/transactions`, { headers: { accept } });
      expect(json.headers.get('content-type')).toContain('application/json');
    }
    const never = 'kaspasim:qzgprqydp4ct77pxza79wemj2acmph2pn3xhscaf4s6t3hfj2y8rk3qnkjdmg';
    expect((await askForCsv('', never)).text.split('\n')).toEqual([header, '']);
  });

  test('sum up to the change of the balance, also within a range', async () => {
    const { balance } = await one<{ balance: bigint }>(
      `select balance from balances join scripts on id = script_id where address = '${address}'`,
    );
    expect(await sumOf('')).toBe(balance);
    const changes = await history({});
    const [first, last] = [changes.at(2), changes.at(-3)];
    if (first === undefined || last === undefined) throw new Error('the history is too short');
    // These are the ends of intervals.
    expect(await sumOf(`?from=${first.timestamp}&to=${last.timestamp}`)).toBe(
      BigInt(last.balance) - BigInt(first.balance),
    );
  });

  test('have the tags of all addresses with include=tags', async () => {
    const tag = { address, name: 'Exchange', link: '', labels: ['exchange'] };
    await harness.database.pool.query('insert into tags (address, name, labels) values ($1, $2, $3)', [
      address,
      tag.name,
      tag.labels,
    ]);
    const [first] = all as [Moved];
    const { rows } = await harness.database.pool.query<{ hash: string }>(
      `select encode(b.hash, 'hex') as hash from blocks b
        join block_transactions c on c.block_id = b.id
          join transactions t on t.id = c.transaction_id
       where t.transaction_id = decode($1, 'hex') limit 1`,
      [first.transactionId],
    );
    for (const [template, values] of [
      ['/v1/addresses/{address}/transactions', { address }],
      ['/v1/transactions/{transactionId}', { transactionId: first.transactionId }],
      ['/v1/blocks/{hash}', { hash: String(rows[0]?.hash) }],
      ['/v1/addresses/{address}', { address }],
      ['/v1/addresses', {}],
    ] as const) {
      expect(await get(template, values, { include: 'tags' })).toMatchObject({ tags: { [address]: tag } });
      expect(await get(template, values)).not.toHaveProperty('tags');
    }
    const bodies = {
      '/v1/addresses': { addresses: [address] },
      '/v1/transactions': { transactionIds: [first.transactionId] },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const { json } = await harness.api.postChecked(path, { ...body, include: 'tags' });
      expect(json).toMatchObject({ tags: { [address]: tag } });
    }
    const { score } = await one<{ score: string }>(
      `select daa_score::text as score from blocks where hash = decode('${rows[0]?.hash}', 'hex')`,
    );
    const ofScore = { start: score, end: score };
    expect(await get('/v1/blocks/daa-score/{start}/{end}', ofScore, { include: 'tags' })).toMatchObject({
      tags: { [address]: tag },
    });
    await harness.database.pool.query('delete from tags');
    expect((await get('/v1/transactions', {}, { include: 'tags' }))['tags']).toEqual({});
  });

  test('of the balance are limited after those of the range are selected', async () => {
    const { pool } = harness.database;
    const hour = 3_600_000;
    const [oldest] = await history({});
    const earlier = 20_000 * hour;
    const move = (ms: number) =>
      pool.query(
        `update previous_balance_changes c set hour = c.hour + $2
          where c.script_id = (select id from scripts where address = $1)
            and c.hour = (select min(hour) from previous_balance_changes
              where script_id = c.script_id and change <> 0)`,
        [address, ms / hour],
      );
    await move(-earlier);
    try {
      const from = Number(oldest?.timestamp) - earlier;
      const listed = await history({ from: String(from - hour), to: String(from + 24 * hour) });
      expect(listed).toEqual(Array.from({ length: 24 }, (_, n) => ({ ...oldest, timestamp: from + n * hour })));
      const newest = await history({});
      expect(newest).toHaveLength(10_000);
      expect(await history({ from: String(from) })).toEqual(newest);
      expect((await history({ from: String(from), interval: 'month' }))[0]).toMatchObject({ balance: oldest?.balance });
    } finally {
      await move(earlier);
    }
  });

  test('give the balance history of a range', async () => {
    const whole = await history({});
    const [from, to] = [whole[3]?.timestamp as number, whole[9]?.timestamp as number];
    expect(await history({ from: String(from), to: String(to) })).toEqual(
      whole.filter(({ timestamp }) => timestamp >= from && timestamp < to),
    );
  });
});
