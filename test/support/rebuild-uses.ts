import type { ClientBase } from 'pg';
import { inscriptions } from '../../packages/state/src/inscriptions/inscriptions.ts';
import { lanes } from '../../packages/state/src/lanes/lanes.ts';

/** Computes from rows what the chain is used for, as the end of a first catch-up does. */
export async function rebuildUses(client: ClientBase): Promise<void> {
  for (const kind of [lanes, inscriptions]) {
    for (const table of kind.emptied ?? []) await client.query(`delete from ${table}`);
    await kind.rebuild?.(client);
  }
}
