/**
 * A newborn index is one in the catch-up from its only bootstrap, at a pruning point. It has nothing that a bootstrap at the node's
 * present pruning point would not give, except the blocks between the two: when the node has pruned what comes after the checkpoint,
 * the index is discarded and bootstrapped again, instead of beginning its life with a gap.
 */
import { inTransaction } from '@kasgres/database';
import type { ClientBase } from 'pg';

/** Filled from the chain. The checkpoint comes first: readers lock it before any other table, so none sees half of an index. */
export const CHAIN_TABLES = [
  'checkpoint',
  'starts',
  'gaps',
  'chain_blocks',
  'blocks',
  'block_parents',
  'block_transactions',
  'transactions',
  'transaction_bodies',
  'transaction_body_inputs',
  'transaction_inputs',
  'transaction_outputs',
  'scripts',
  'address_transactions',
  'utxos',
  'balances',
  'balance_changes',
  'network_intervals',
  'seen_before',
  'start_utxos',
  'start_balances',
  'earlier_transactions',
  'earlier_blocks',
  'earlier_times',
  'clustering',
  'clusters',
  'cluster_members',
  'cluster_merges',
  'held_merges',
  'change_links',
  'cluster_names',
  'cluster_labels',
  'cluster_links',
  'tag_marks',
] as const;

/** Below it are the ids that a migration has given to the built-in subnetworks. */
const FIRST_SUBNETWORK_ID = 2;
/** Readers queue behind a waiting truncation: it gives up soon, and the caller tries again later. */
const LOCK_TIMEOUT = '5s';

/** History since genesis is none that a pruned node could give again, so such an index is not newborn. */
export async function canBootstrapAgain(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ newborn: boolean }>(
    `select c.first_catch_up and not exists (select from gaps)
            and (select count(*) = 1 and min(utxo_count) > 0 from starts) as newborn
       from checkpoint c`,
  );
  return rows[0]?.newborn === true;
}

/**
 * Empties the index, so that the database is as before the first bootstrap. One transaction: a crash leaves either all or nothing.
 * @throws DatabaseError lock_not_available, which is retryable, while somebody reads for long
 */
export function discardIndex(client: ClientBase): Promise<void> {
  return inTransaction(client, async () => {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query(`truncate ${CHAIN_TABLES.join(', ')}`);
    await client.query('delete from subnetworks where id >= $1', [FIRST_SUBNETWORK_ID]);
  });
}
