/** Statements that share an execution, against the real process: each response is what it is alone. */
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiResponse } from '../support/api-client.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness({ rounds: 30 });
  await harness.atRest();
});
afterAll(() => harness.close());

/** Sends requests while no statement can finish, and then lets them. */
async function sendTogether(paths: readonly string[]): Promise<ApiResponse[]> {
  const locker: PoolClient = await harness.database.pool.connect();
  try {
    await locker.query('begin; lock table checkpoint in access exclusive mode');
    const responses = Promise.all(paths.map((path) => harness.api.request(path)));
    await expect.poll(() => countExecuting()).toBeGreaterThan(1);
    await locker.query('commit');
    return await responses;
  } finally {
    locker.release(true);
  }
}

const visible = ({ status, text, headers }: ApiResponse) => ({
  status,
  text,
  etag: headers.get('etag'),
  sink: headers.get('x-kasgres-sink'),
});

async function countExecuting(): Promise<number> {
  const { rows } = await harness.database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'kasgres api' and wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}

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
  const alone: ApiResponse[] = [];
  for (const path of paths) alone.push(await harness.api.request(path));
  const responses = await sendTogether(paths);
  expect(responses.map(visible)).toEqual(alone.map(visible));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 404]));
});
