/**
 * When scripts were first and last seen. The columns are in `balances`; `seen_before` lets reorgs
 * restore them (docs/adr/0007-rollups.md).
 */
import { inPipeline } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { BalanceDeltas } from '../balance-deltas.ts';
import type {
  BatchItem,
  BatchRange,
  ChainBlock,
  RevertedChainBlock,
  StateChanges,
  TransactionDeltas,
} from '../../state-changes.ts';
import { loadActivityAtFork, readStoredActivity } from './look-up.ts';
import { replay, ScriptActivityChanges, type SeenBefore, type TouchingBlock } from './replay.ts';

/**
 * Chain blocks with a row in `seen_before`: those of the hour within which mainnet merges blocks.
 * Deeper reorgs read the rows of the chain.
 */
const SEEN_BEFORE_BLOCKS = 36_000;
const PRUNE_EVERY = 100;

export function collectActivity(item: BatchItem, changes: StateChanges): void {
  const { added } = changes.of(ScriptActivityChanges);
  if (item.kind === 'chain-block') added.push(toTouchingBlock(item.chainBlock, []));
  else if (item.kind === 'accepted') touch(added.at(-1) as TouchingBlock, item.transaction);
}

export function revertActivity(removed: readonly RevertedChainBlock[], changes: StateChanges): void {
  const activity = changes.of(ScriptActivityChanges);
  activity.removed = removed.map(({ chainBlock, transactions }) => toTouchingBlock(chainBlock, transactions));
  for (const { deltas } of removed.flatMap(({ transactions }) => transactions)) {
    for (const script of deltas.keys()) {
      activity.removedTouches.set(script, (activity.removedTouches.get(script) ?? 0) + 1);
    }
  }
}

/**
 * Must run before the batch updates acceptance: before a gap, the chain below the batch may accept
 * the same transactions.
 */
export async function readActivity(client: ClientBase, changes: StateChanges): Promise<void> {
  const activity = changes.of(ScriptActivityChanges);
  const touched = [...activity.removed, ...activity.added].flatMap(({ scripts }) => [...scripts]);
  const wanted = [...new Set([...touched, ...changes.of(BalanceDeltas).keys()])];
  const stored = await readStoredActivity(client, wanted);
  const before = await loadActivityAtFork(client, changes.range.fork, activity, stored);
  const { counts, seenBefore, after } = replay(activity.added, before);
  activity.removedCounts = replay(activity.removed, before).counts;
  activity.addedCounts = counts;
  activity.after = new Map([...before, ...after]);
  activity.stored = stored;
  activity.seenBefore = seenBefore;
}

function toTouchingBlock({ index, chainTime }: ChainBlock, transactions: readonly TransactionDeltas[]): TouchingBlock {
  const block = { index, chainTime, scripts: new Set<number>() };
  for (const transaction of transactions) touch(block, transaction);
  return block;
}

function touch({ scripts }: TouchingBlock, { deltas }: TransactionDeltas): void {
  for (const script of deltas.keys()) scripts.add(script);
}

export async function writeSeenBefore(
  client: ClientBase,
  { checkpoint, fork, to }: BatchRange,
  rows: readonly SeenBefore[],
): Promise<void> {
  if (fork === checkpoint && rows.length === 0) return;
  const remove = {
    name: 'remove-seen-before',
    text: 'delete from seen_before where chain_index > $1',
    values: [fork],
  };
  const write = {
    name: 'write-seen-before',
    text: `insert into seen_before (chain_index, script_ids, last_seen)
           select chain_index, script_ids::bigint[], last_seen::bigint[]
             from unnest($1::bigint[], $2::text[], $3::text[])
             block (chain_index, script_ids, last_seen)`,
    values: [
      rows.map(({ chainIndex }) => chainIndex),
      rows.map(({ scripts }) => `{${scripts.join(',')}}`),
      rows.map(({ lastSeen }) => `{${lastSeen.map((time) => time ?? 'null').join(',')}}`),
    ],
  };
  await inPipeline(client, [
    async () => fork < checkpoint && (await client.query(remove)),
    async () => await client.query(write),
  ]);
  if (Math.floor(to / PRUNE_EVERY) === Math.floor(checkpoint / PRUNE_EVERY)) return;
  await client.query('delete from seen_before where chain_index <= $1', [to - SEEN_BEFORE_BLOCKS]);
}
