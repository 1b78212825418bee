import { expect, test, vi } from 'vitest';
import { createTestDatabase } from '../testing/index.ts';
import { makeReader } from './read-only-login.ts';

test.each(['2020-01-01', '2040-01-01'])(
  'a login works if the clock of this process says %s, and expires by that of the server',
  async (time) => {
    const database = await createTestDatabase();
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(time) });
    try {
      const reader = await makeReader(database.url);
      expect(reader.isRestricted).toBe(true);
      const { rows } = await database.pool.query(
        `select rolvaliduntil between now() and now() + interval '1 minute' as is_right
           from pg_roles where rolname = $1`,
        [new URL(reader.url).username],
      );
      expect(rows).toEqual([{ is_right: true }]);
      await reader.close();
    } finally {
      vi.useRealTimers();
      await database.drop();
    }
  },
);
