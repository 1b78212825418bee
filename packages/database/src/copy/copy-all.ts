import type { ClientBase } from 'pg';
import { copyRows } from './copy-buffer.ts';
import type { CopyTable } from './define-copy-table.ts';

const ROWS_AT_ONCE = 2 ** 16;

/** Writes any number of rows, with a bounded number of them encoded at once: in several statements. */
export async function copyAll<Row>(client: ClientBase, table: CopyTable<Row>, rows: Iterable<Row>): Promise<void> {
  const buffer = table.createBuffer();
  for (const row of rows) {
    buffer.write(row);
    if (buffer.rows < ROWS_AT_ONCE) continue;
    await copyRows(client, buffer);
    buffer.clear();
  }
  await copyRows(client, buffer);
}
