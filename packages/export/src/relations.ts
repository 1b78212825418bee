/**
 * The views and tables that can be exported, and how each is cut by position on the chain. A test
 * checks that every view of schema kaspa and every table is listed.
 *
 * A fact belongs to one chain block, which merges or accepts it, and never changes after that block
 * is final. Everything else is state.
 */
import { DAY_MS } from './chain.ts';

/** The chain blocks from `first` to `last`, by chain_blocks.index. */
export interface ChainRange {
  first: number;
  last: number;
  /**
   * Whether a gap follows. Chain blocks after a gap may merge or accept the same rows again, which
   * then belong to the later block: unless the rows themselves are read, they are exported twice.
   */
  isBeforeGap: boolean;
}

export interface Fact {
  kind: 'fact';
  /** Returns the SQL condition that rows `r` belong to these chain blocks. It uses an index. */
  where: (range: ChainRange) => string;
  /** Length of the time interval that a row covers. The row is final when the whole interval is. */
  intervalMs?: number;
  /** Columns that are not exported, since they may change after the row is final. */
  without?: readonly string[];
}

export type Relation = Fact | { kind: 'state' } | { kind: 'left out'; reason: string };

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const chain = ({ first, last }: ChainRange): string =>
  `public.chain_blocks c where c.index between ${first} and ${last}`;

const mergedBlocks = (range: ChainRange): string => {
  const mergeSets = (columns: string): string =>
    `select ${columns} unnest(m.merge_set_blues || m.merge_set_reds) as id from public.blocks m
      where m.id in (select c.block_id from ${chain(range)})`;
  if (!range.isBeforeGap) return mergeSets('');
  return `select b.id from (${mergeSets('m.id as merging_block_id,')}) s
    join public.blocks b using (id, merging_block_id)`;
};

const acceptedTransactions = (range: ChainRange): string => {
  const accepted = (columns: string): string =>
    `select ${columns} unnest(c.accepted_transactions) as id from ${chain(range)}`;
  if (!range.isBeforeGap) return accepted('');
  return `select t.id from (${accepted('c.index as accepting_index,')}) s
    join public.transactions t using (id, accepting_index)`;
};

const byPosition = (column: string): Fact => ({
  kind: 'fact',
  where: ({ first, last }) => `r.${column} between ${first} and ${last}`,
});
const byBlock = (column: string): Fact => ({
  kind: 'fact',
  where: (range) => `r.${column} in (${mergedBlocks(range)})`,
});
const byTransaction = (column: string, without: readonly string[] = []): Fact => ({
  kind: 'fact',
  where: (range) => `r.${column} in (${acceptedTransactions(range)})`,
  without,
});
/**
 * Selects the intervals from that of the first chain block to that of the last: chain_time never
 * decreases.
 */
const byInterval = (intervalMs: number, where: (from: string, to: string) => string): Fact => {
  const startAt = (index: number): string =>
    `(select c.chain_time / ${intervalMs} * ${intervalMs} from public.chain_blocks c where c.index = ${index})`;
  return { kind: 'fact', intervalMs, where: ({ first, last }) => where(startAt(first), startAt(last)) };
};
const byStart = (intervalMs: number): Fact =>
  byInterval(
    intervalMs,
    (from, to) => `r.start between to_timestamp(${from} / 1000.0) and to_timestamp(${to} / 1000.0)`,
  );

const state: Relation = { kind: 'state' };
/** Exported by default, since facts refer to it. */
export const REFERRED_TO: Relation = { kind: 'state' };
const left = (reason: string): Relation => ({ kind: 'left out', reason });

/** Views of schema kaspa. */
export const VIEWS: Readonly<Record<string, Relation>> = {
  blocks: byBlock('block_key'),
  chain_blocks: byPosition('index'),
  block_parents: byBlock('block_key'),
  block_transactions: byBlock('block_key'),
  mergesets: byPosition('chain_index'),
  transactions: byTransaction('transaction_key'),
  accepted_transactions: byPosition('chain_index'),
  inputs: byTransaction('transaction_key'),
  // The spender of an output is a fact of its transaction: join inputs.
  outputs: byTransaction('transaction_key', ['spent_by']),
  address_transactions: byTransaction('transaction_key'),
  network_minutes: byStart(MINUTE_MS),
  network_hours: byStart(HOUR_MS),
  network_days: byStart(DAY_MS),
  utxos: state,
  addresses: state,
  address_hours: state,
  lanes: state,
  lane_hours: state,
  inscriptions: state,
  protocol_hours: state,
  tags: state,
  tag_sources: state,
  attributions: state,
  clusters: state,
  cluster_members: state,
  cluster_merges: state,
  cluster_evidence: left('it follows from cluster_members and cluster_merges'),
  cluster_name_conflicts: state,
  held_merges: state,
  covenants: state,
  covenant_events: byPosition('chain_index'),
  covenant_utxos: state,
  covenant_hours: state,
  programs: state,
  program_templates: state,
  program_use_hours: state,
  gaps: state,
  starts: state,
  index_status: left('it describes the indexer, not the chain'),
};

/** Tables of schema public, for `--raw`. */
export const TABLES: Readonly<Record<string, Relation>> = {
  blocks: byBlock('id'),
  block_parents: byBlock('block_id'),
  block_transactions: byBlock('block_id'),
  chain_blocks: byPosition('index'),
  transactions: byTransaction('id'),
  transaction_variants: byTransaction('transaction_id'),
  transaction_variant_inputs: byTransaction('transaction_id'),
  transaction_inputs: byTransaction('transaction_id'),
  transaction_outputs: byTransaction('transaction_id'),
  // Days, with their hours and minutes, once the day is over.
  network_intervals: byInterval(
    DAY_MS,
    (from, to) =>
      `r.length = any (enum_range(null::public.interval_length)) and r.start >= ${from} and r.start < ${to} + ${DAY_MS}`,
  ),
  scripts: REFERRED_TO,
  subnetworks: REFERRED_TO,
  pre_bootstrap_transactions: REFERRED_TO,
  pre_bootstrap_blocks: REFERRED_TO,
  bootstrap_blocks: REFERRED_TO,
  bootstrap_utxos: REFERRED_TO,
  bootstrap_balances: REFERRED_TO,
  gaps: REFERRED_TO,
  generations: left('it describes partitions, not the chain'),
  meta: state,
  pre_bootstrap_times: state,
  checkpoint: state,
  utxos: state,
  balances: state,
  balance_tiers: left('it follows from balances'),
  previous_balance_changes: state,
  miner_hours: state,
  lanes: state,
  lane_hours: state,
  lane_totals: left('it follows from lane_hours'),
  lane_blocks: left('it follows from chain_blocks and transactions'),
  inscription_kinds: state,
  inscriptions: state,
  protocol_hours: state,
  inscription_decoders: left('it holds pending work of the indexer'),
  tags: state,
  tag_sources: state,
  attributions: state,
  clustering: state,
  clusters: state,
  cluster_members: state,
  cluster_merges: state,
  cluster_names: state,
  cluster_labels: state,
  cluster_links: state,
  held_merges: state,
  held_merge_repeats: state,
  change_links: state,
  covenants: REFERRED_TO,
  covenant_events: byPosition('chain_index'),
  covenant_hours: state,
  programs: state,
  program_templates: REFERRED_TO,
  program_use_hours: state,
  address_transactions: left('it follows from inputs and outputs'),
  script_deltas: left('it follows from inputs and outputs'),
  balance_changes: left('it follows from balances and previous_balance_changes'),
  script_labels: left('it follows from balances and transactions'),
  tag_labels: left('it follows from tags'),
  template_names: left('it follows from the files of names that were imported'),
  template_sources: left('it lists the files of names that were imported'),
  pending_tag_flags: left('it holds pending work of the indexer'),
  late_transactions: left('it holds pending work of the indexer'),
  seen_before: left('it is needed to undo reorgs only'),
  repeated_transactions: left('it follows from block_transactions'),
  contested_outputs: left('it follows from transaction_inputs'),
  unmerged_touches: left('it holds transactions of blocks that are not merged yet'),
  removed_chain_blocks: left('it is kept for twice the finality depth only'),
  deferred_indexes: left('it belongs to the first catch-up'),
  next_bootstrap: left('it belongs to a pending cut'),
  next_bootstrap_created: left('it belongs to a pending cut'),
  next_bootstrap_spent: left('it belongs to a pending cut'),
  utxo_set_load: left('it belongs to a pending bootstrap'),
  loaded_utxos: left('it belongs to a pending bootstrap'),
  accepted_deltas: left('it is empty but for the end of the first catch-up'),
  possible_reveals: left('it is empty but for the first catch-up'),
  api_keys: left('it belongs to the API, not the chain'),
  api_key_usage: left('it belongs to the API, not the chain'),
  analysts: left('it belongs to access control, not the chain'),
  notification_secret: left('it belongs to access control, not the chain'),
  rate_limits: left('it belongs to the API, not the chain'),
  webhooks: left('it belongs to the API, not the chain'),
  webhook_deliveries: left('it belongs to the API, not the chain'),
};

export function listNames(relations: Readonly<Record<string, Relation>>, kind: Relation['kind']): string {
  return Object.keys(relations)
    .filter((name) => relations[name]?.kind === kind)
    .join(', ');
}
