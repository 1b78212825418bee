/**
 * An index whose checkpoint was pruned during its first catch-up is bootstrapped again, which loses
 * few blocks and avoids a gap.
 */
import { inTransaction } from '@kasgres/database';
import type { ClientBase } from 'pg';

/**
 * Tables that are filled from the chain. Readers lock the checkpoint first, so it comes first and
 * none sees half of an index.
 */
export const CHAIN_TABLES = [
  'checkpoint',
  'bootstrap_blocks',
  'gaps',
  'chain_blocks',
  'removed_chain_blocks',
  'blocks',
  'block_parents',
  'block_transactions',
  'repeated_transactions',
  'contested_outputs',
  'transactions',
  'transaction_variants',
  'transaction_variant_inputs',
  'transaction_inputs',
  'transaction_outputs',
  'scripts',
  'utxos',
  'balances',
  'unmerged_touches',
  'balance_tiers',
  'previous_balance_changes',
  'network_intervals',
  'miner_hours',
  'lanes',
  'lane_hours',
  'lane_totals',
  'lane_blocks',
  'inscription_kinds',
  'inscriptions',
  'protocol_hours',
  'inscription_decoders',
  'accepted_deltas',
  'possible_reveals',
  'seen_before',
  'bootstrap_utxos',
  'bootstrap_balances',
  'next_bootstrap',
  'next_bootstrap_created',
  'next_bootstrap_spent',
  'pre_bootstrap_transactions',
  'late_transactions',
  'pre_bootstrap_blocks',
  'pre_bootstrap_times',
  'clustering',
  'clusters',
  'cluster_members',
  'cluster_merges',
  'held_merges',
  'held_merge_repeats',
  'change_links',
  'cluster_names',
  'cluster_labels',
  'cluster_links',
  'pending_tag_flags',
  'covenants',
  'covenant_events',
  'covenant_hours',
  'programs',
  'program_templates',
  'program_use_hours',
] as const;

/** Lower ids belong to the built-in subnetworks, which a migration inserts. */
const FIRST_SUBNETWORK_ID = 2;
/** Readers queue behind a pending truncation, so it fails early and the caller retries. */
const LOCK_TIMEOUT = '5s';

/** Returns false for an index from genesis, since a pruned node could not restore its history. */
export async function canBootstrapAgain(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ discardable: boolean }>(
    `select c.first_catch_up and not exists (select from gaps)
            and (select count(*) = 1 and min(utxo_count) > 0 from bootstrap_blocks) as discardable
       from checkpoint c`,
  );
  return rows[0]?.discardable === true;
}

/**
 * Empties the database.
 * @throws a retryable DatabaseError (lock_not_available) if a reader keeps its lock
 */
export function discardIndex(client: ClientBase): Promise<void> {
  return inTransaction(client, async () => {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query(`truncate ${CHAIN_TABLES.join(', ')}`);
    await client.query('delete from subnetworks where id >= $1', [FIRST_SUBNETWORK_ID]);
  });
}
