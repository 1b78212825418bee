import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { untilAborted } from '@kasgres/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { clientConfig } from './client-config.ts';
import { holdSession } from './hold-session.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const sessions = async (): Promise<number[]> => {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'held session' and datname = current_database()`,
  );
  return rows.map(({ pid }) => pid);
};

test('it opens another session after one is lost, and closes the last one after the signal', async () => {
  const closing = new AbortController();
  const losses: string[] = [];
  const held = holdSession({
    config: { ...clientConfig(database.url), application_name: 'held session' },
    signal: closing.signal,
    use: (_client, ended) => untilAborted(ended),
    onLost: (error) => losses.push(String(error)),
  });
  await expect.poll(sessions).toHaveLength(1);
  const [first] = await sessions();
  await database.pool.query('select pg_terminate_backend($1)', [first]);
  await expect.poll(sessions).toEqual([expect.not.toSatisfy((pid: number) => pid === first)]);
  expect(losses).toEqual([expect.stringContaining('terminating connection due to administrator command')]);
  closing.abort();
  await held;
  await expect.poll(sessions).toEqual([]);
  expect(losses).toHaveLength(1);
});

test('it reports what `use` throws, and opens another session', async () => {
  const closing = new AbortController();
  const losses: unknown[] = [];
  let uses = 0;
  await holdSession({
    config: clientConfig(database.url),
    signal: closing.signal,
    use: async () => {
      uses += 1;
      if (uses === 1) throw new Error('failed');
      closing.abort();
    },
    onLost: (error) => losses.push(error),
  });
  expect([uses, losses]).toEqual([2, [new Error('failed')]]);
});

test('the signal ends the wait for a server that never responds', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const closing = new AbortController();
  const losses: unknown[] = [];
  const held = holdSession({
    config: { host: '127.0.0.1', port, user: 'nobody' },
    signal: closing.signal,
    use: () => Promise.reject(new Error('connected')),
    onLost: (error) => losses.push(error),
  });
  await once(server, 'connection');
  closing.abort();
  await held;
  expect(losses).toEqual([]);
  server.close();
});

test('a statement to which the server never responds ends the session, and the signal the wait', async () => {
  const closing = new AbortController();
  const losses: string[] = [];
  await holdSession({
    config: { ...clientConfig(database.url), query_timeout: 300 },
    signal: closing.signal,
    use: async (client) => {
      await client.query('select pg_sleep(30)');
    },
    onLost: (error) => {
      losses.push(String(error));
      closing.abort();
    },
  });
  expect(losses).toEqual(['Error: Query read timeout']);
});
