import { covenants, inscriptions, lanes, programs } from '@kasgres/state/testing';
import type { ClientBase } from 'pg';

/** Computes from rows what the chain is used for, as the end of a first catch-up does. */
export async function rebuildUses(client: ClientBase): Promise<void> {
  for (const { tables } of [lanes, programs, covenants, inscriptions]) {
    for (const table of tables?.emptied ?? []) await client.query(`delete from ${table}`);
  }
  for (const { rebuild } of [lanes, covenants, inscriptions]) await rebuild?.fromRows?.(client);
}
