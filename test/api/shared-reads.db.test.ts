/**
 * Statements that share an execution, against the real process: each response is what it is alone.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiResponse } from '../support/openapi.ts';
import { openHarness, type Harness } from './harness.ts';
import { countWaiting, whileNothingIsRead } from './locked-index.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness({ rounds: 30 });
  await harness.atRest();
});
afterAll(() => harness.close());

/** Sends requests while no statement can finish, and then lets them. */
const sendTogether = (paths: readonly string[]): Promise<ApiResponse[]> =>
  whileNothingIsRead(harness, async (release) => {
    const responses = Promise.all(paths.map((path) => harness.api.request(path)));
    await expect.poll(() => countWaiting(harness)).toBeGreaterThan(1);
    await release();
    return await responses;
  });

/** Sends each alone first. */
async function compareWithAlone(paths: readonly string[]): Promise<void> {
  const alone: ApiResponse[] = [];
  for (const path of paths) alone.push(await harness.api.request(path));
  const responses = await sendTogether(paths);
  expect(responses.map(visible)).toEqual(alone.map(visible));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 404]));
}

const visible = ({ status, text, headers }: ApiResponse) => ({
  status,
  text,
  etag: headers.get('etag'),
  sink: headers.get('x-kasgres-sink'),
});

test('look-ups that wait have the responses that each has alone, those that fail included', async () => {
  const { rows } = await harness.database.pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions order by id desc limit 50`,
  );
  const unknown = '0'.repeat(64);
  const transactions = [...rows.map(({ id }) => id), unknown, rows[0]?.id ?? '', unknown];
  const { rows: owners } = await harness.database.pool.query<{ address: string }>(
    'select address from scripts where address is not null order by id limit 20',
  );
  const paths = [
    ...transactions.map((id) => `/v1/transactions/${id}`),
    ...transactions.map((id) => `/v1/transactions/${id}?include_payload=true&include=tags`),
    ...owners.map(({ address }) => `/v1/rpc/getBalanceByAddress/${address}`),
  ];
  await compareWithAlone(paths);
});

test('pages of addresses that wait have the responses that each has alone, with cursors, tags and unknown cursors', async () => {
  const { rows } = await harness.database.pool.query<{ address: string }>(
    `select s.address from balances b join scripts s on s.id = b.script_id
      where s.address is not null and b.utxo_count >= 4 and b.transaction_count >= 4 order by s.id
        limit 8`,
  );
  const unknown = '0'.repeat(64);
  const paths: string[] = [];
  for (const { address } of rows) {
    for (const [listing, key] of [
      ['transactions', (item: Item) => item.transactionId],
      ['utxos', (item: Item) => `${item.transactionId}:${item.index}`],
    ] as const) {
      const path = `/v1/addresses/${address}/${listing}`;
      const { json } = await harness.api.request(`${path}?limit=4`);
      const items = (json as Record<string, Item[]>)[listing] ?? [];
      const cursors = items.slice(1, 3).map(key);
      paths.push(path, `${path}?limit=1`, `${path}?limit=100`);
      paths.push(
        ...cursors.flatMap((cursor) => [`${path}?starting_after=${cursor}`, `${path}?ending_before=${cursor}`]),
      );
      paths.push(`${path}?starting_after=${unknown}${listing === 'utxos' ? ':0' : ''}`);
    }
    paths.push(`/v1/addresses/${address}/transactions?include=tags&include_payload=true&limit=3`);
    paths.push(`/v1/addresses/${address}/transactions?accepted_only=true&limit=3`);
  }
  expect(rows.length).toBeGreaterThan(3);
  await compareWithAlone(paths);
});

interface Item {
  transactionId: string;
  index?: number;
}
