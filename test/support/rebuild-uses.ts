import type { ClientBase } from 'pg';
import { covenants } from '../../packages/state/src/covenants/covenants.ts';
import { inscriptions } from '../../packages/state/src/inscriptions/inscriptions.ts';
import { lanes } from '../../packages/state/src/lanes/lanes.ts';
import { programs } from '../../packages/state/src/programs/programs.ts';

/** Computes from rows what the chain is used for, as the end of a first catch-up does. */
export async function rebuildUses(client: ClientBase): Promise<void> {
  for (const { tables } of [lanes, programs, covenants, inscriptions]) {
    for (const table of tables?.emptied ?? []) await client.query(`delete from ${table}`);
  }
  for (const { rebuild } of [lanes, covenants, inscriptions]) await rebuild?.fromRows?.(client);
}
