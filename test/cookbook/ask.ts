/** A request asked as psql would: every value as the text that Postgres writes. */
import type { ClientBase } from 'pg';
import type { Text } from './cells.ts';

export interface Response {
  columns: string[];
  rows: Text[][];
}

export async function ask(connection: ClientBase, sql: string): Promise<Response> {
  const { fields, rows } = await connection.query<Text[]>({
    text: sql,
    rowMode: 'array',
    types: { getTypeParser: () => (value: string) => value },
  });
  return { columns: fields.map(({ name }) => name), rows };
}
