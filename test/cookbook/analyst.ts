/** An analyst's own connection, as `kasgres analysts` gives it: it sees schema `kaspa` and nothing else. */
import { randomBytes } from 'node:crypto';
import { createAnalyst, type TestDatabase } from '@kasgres/database';
import { Client } from 'pg';

const LIMITS = { timeoutSeconds: 60, connections: 2 };

export interface Analyst {
  client: Client;
  /** The login goes with it. */
  close: () => Promise<void>;
}

export async function openAnalyst({ pool, url }: TestDatabase): Promise<Analyst> {
  const name = `analyst_${randomBytes(6).toString('hex')}`;
  const password = await createAnalyst(pool, { name, ...LIMITS }, () => undefined);
  const own = new URL(url);
  own.username = name;
  own.password = password;
  const client = new Client({ connectionString: own.toString() });
  await client.connect();
  return {
    client,
    close: async () => {
      await client.end();
      await pool.query(`drop role ${name}`);
    },
  };
}
