/**
 * What can be exported, and how each view and table is cut by position on the chain. The one list of it: a test holds that every view of
 * schema kaspa and every table is here.
 *
 * A fact belongs to one chain block, which merges or accepts it, and never changes once that block is final. All else is state: what
 * holds now, and what the chain says nothing of.
 */
import { DAY_MS } from './chain.ts';

/** The chain blocks from `first` to `last`, by chain_blocks.index. */
export interface ChainRange {
  first: number;
  last: number;
  /**
   * Whether a gap follows. Chain blocks after a gap may merge and accept again what these chain blocks did, and the row then belongs to the
   * later one: without a look at the row it would be exported twice.
   */
  isBeforeGap: boolean;
}

export interface Fact {
  kind: 'fact';
  /** Condition on the rows `r` of the relation: that they belong to these chain blocks. Finds them by an index. */
  where: (range: ChainRange) => string;
  /** Rows of an interval of time, of so many milliseconds: final when the whole interval is. */
  intervalMs?: number;
  /** Columns that are left out, since they change for rows that do not. */
  without?: readonly string[];
}

interface State {
  kind: 'state';
  /** Exported when no name is given, since facts refer to it. */
  isReferredTo?: boolean;
}

interface Left {
  kind: 'left out';
  reason: string;
}

export type Relation = Fact | State | Left;

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const chain = ({ first, last }: ChainRange): string =>
  `public.chain_blocks c where c.index between ${first} and ${last}`;

const mergedBlocks = (range: ChainRange): string => {
  const mergeSets = (columns: string): string =>
    `select ${columns} unnest(m.merge_set_blues || m.merge_set_reds) as id from public.blocks m where m.id in (select c.block_id from ${chain(range)})`;
  if (!range.isBeforeGap) return mergeSets('');
  return `select b.id from (${mergeSets('m.id as merging_block_id,')}) s join public.blocks b using (id, merging_block_id)`;
};

const acceptedTransactions = (range: ChainRange): string => {
  const accepted = (columns: string): string =>
    `select ${columns} unnest(c.accepted_transactions) as id from ${chain(range)}`;
  if (!range.isBeforeGap) return accepted('');
  return `select t.id from (${accepted('c.block_id as accepting_block_id,')}) s join public.transactions t using (id, accepting_block_id)`;
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
/** Intervals that begin from that of the first of these chain blocks to that of the last: chain_time never goes back. */
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

const state: State = { kind: 'state' };
const referredTo: State = { kind: 'state', isReferredTo: true };
const left = (reason: string): Left => ({ kind: 'left out', reason });

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
  // Who spends an output is a fact of the spender: join inputs.
  outputs: byTransaction('transaction_key', ['spent_by']),
  address_transactions: byTransaction('transaction_key'),
  network_minutes: byStart(MINUTE_MS),
  network_hours: byStart(HOUR_MS),
  network_days: byStart(DAY_MS),
  utxos: state,
  addresses: state,
  address_hours: state,
  tags: state,
  tag_sources: state,
  attributions: state,
  clusters: state,
  cluster_members: state,
  cluster_merges: state,
  gaps: state,
  starts: state,
  index_status: left('how the indexer is doing, not what the chain holds'),
};

/** Tables of schema public, for `--raw`. */
export const TABLES: Readonly<Record<string, Relation>> = {
  blocks: byBlock('id'),
  block_parents: byBlock('block_id'),
  block_transactions: byBlock('block_id'),
  chain_blocks: byPosition('index'),
  transactions: byTransaction('id'),
  transaction_bodies: byTransaction('transaction_id'),
  transaction_body_inputs: byTransaction('transaction_id'),
  transaction_inputs: byTransaction('transaction_id'),
  transaction_outputs: byTransaction('transaction_id'),
  address_transactions: byTransaction('transaction_id'),
  // Days and the hours and minutes in them, once the day is over.
  network_intervals: byInterval(
    DAY_MS,
    (from, to) =>
      `r.length = any (enum_range(null::public.interval_length)) and r.start >= ${from} and r.start < ${to} + ${DAY_MS}`,
  ),
  scripts: referredTo,
  subnetworks: referredTo,
  earlier_transactions: referredTo,
  earlier_blocks: referredTo,
  starts: referredTo,
  start_utxos: referredTo,
  start_balances: referredTo,
  gaps: referredTo,
  meta: state,
  earlier_times: state,
  checkpoint: state,
  utxos: state,
  balances: state,
  balance_changes: state,
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
  change_links: state,
  tag_labels: left('follows from tags'),
  tag_marks: left('work of the indexer that waits'),
  seen_before: left('what a reorganisation needs to be undone'),
  deferred_indexes: left('of the first catch-up'),
  utxo_set_load: left('of a start that is being made'),
  loaded_utxos: left('of a start that is being made'),
  api_keys: left('of the API, not of the chain'),
  api_key_usage: left('of the API, not of the chain'),
  analysts: left('of access to the database, not of the chain'),
  rate_limits: left('of the API, not of the chain'),
};
