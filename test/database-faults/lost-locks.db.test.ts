/**
 * Sessions of other programs whose connection falls silent, behind a proxy that keeps it open at
 * the server, give up their locks.
 */
import { isDatabaseUnavailable, migrate } from '@kasgres/database';
import { createTestDatabase, startSilentProxy } from '@kasgres/database/testing';
import { expect, test } from 'vitest';

test.concurrent('a migration ends, and others do not wait for its lock', async () => {
  const database = await createTestDatabase({ empty: true });
  const proxy = await startSilentProxy(database.url, 'server_encoding');
  await expect(migrate(proxy.url)).rejects.toSatisfy(isDatabaseUnavailable);
  expect(await migrate(database.url)).not.toEqual([]);
  proxy.stop();
  await database.drop();
});
