import { createTestDatabase, TcpProxy } from '@kasgres/database/testing';
import { createLogger, createRegistry } from '@kasgres/runtime';
import { expect, test, vi } from 'vitest';
import { openClusteringDatabase } from '../database.ts';
import { createMetrics } from '../metrics.ts';
import { keepClustering } from './keep-clustering.ts';

test('it ends five seconds after the signal, although its connection has fallen silent', async () => {
  const testDatabase = await createTestDatabase();
  const proxy = await TcpProxy.start(testDatabase.url, 'backend_start');
  const database = openClusteringDatabase(proxy.url);
  const end = new AbortController();
  const options = { depth: undefined, sizeLimit: 1000n, change: false };
  const log = createLogger({ name: 'clustering under test', level: 'silent' });
  const { clustering: metrics } = createMetrics(createRegistry('clustering under test'));
  try {
    const ended = keepClustering({ database, options, log, metrics }, end.signal);
    await vi.waitFor(() => expect(proxy.silent).toBe(1), { timeout: 10_000 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const abortedAt = performance.now();
    end.abort();
    vi.advanceTimersByTime(5000);
    vi.useRealTimers();
    await ended;
    expect(performance.now() - abortedAt).toBeLessThan(5000);
  } finally {
    vi.useRealTimers();
    await database.close();
    proxy.stop();
    await testDatabase.drop();
  }
});
