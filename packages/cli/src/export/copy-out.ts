// The rows of a query, as the fields that COPY sends.

import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { cutRows, type OnField, readRows } from '../copy-rows.ts';

/**
 * Calls `onField` for each field and `onRow` after each row.
 * @returns the number of rows
 */
export async function copyOut(client: PoolClient, query: string, onField: OnField, onRow: () => void): Promise<number> {
  const stream = client.query(copyTo(`copy (${query}) to stdout (format binary)`));
  let rows = 0;
  for await (const whole of cutRows(stream as AsyncIterable<Buffer>)) rows += readRows(whole, onField, onRow);
  return rows;
}
