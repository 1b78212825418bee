/** An analyst's own connection, as created by `kasgres analysts`: it sees schema `kaspa` only. */
import { randomBytes } from 'node:crypto';
import { createAnalyst } from '@kasgres/database';
import type { TestDatabase } from '@kasgres/database/testing';
import { Client } from 'pg';

/** A value as psql prints it. */
export type Text = string | null;

export interface Response {
  columns: string[];
  rows: Text[][];
}

export interface Analyst {
  client: Client;
  /** Returns every value as the text that psql would print. */
  ask: (sql: string) => Promise<Response>;
  /** Also drops the login. */
  close: () => Promise<void>;
}

export async function openAnalyst({ pool, url }: TestDatabase): Promise<Analyst> {
  const name = `analyst_${randomBytes(6).toString('hex')}`;
  const password = await createAnalyst(pool, { name, timeoutSeconds: 60, connections: 2 }, () => undefined);
  const connectionString = Object.assign(new URL(url), { username: name, password }).toString();
  const types = { getTypeParser: () => (value: string) => value };
  const client = new Client({ connectionString });
  await client.connect();
  return {
    client,
    ask: async (text) => {
      const { fields, rows } = await client.query<Text[]>({ text, rowMode: 'array', types });
      return { columns: fields.map((field) => field.name), rows };
    },
    close: async () => {
      await client.end();
      await pool.query(`drop role ${name}`);
    },
  };
}
