/**
 * The rollups that a batch changes (docs/adr/0007-rollups.md): when scripts were seen, what happened in each interval, and what a reorg will
 * need to undo that.
 */
import type { ClientBase } from 'pg';
import type { BalanceChange } from '../prepare/balance-changes.ts';
import type { Batch } from '../prepare/batch.ts';
import type { ChainBlockTotals } from '../rollups/chain-block-totals.ts';
import { IntervalChanges } from '../rollups/intervals.ts';
import { replay, type SeenBefore, type Sighting } from '../rollups/sightings.ts';
import { readSightings, sightingsAtFork } from './seen-scripts.ts';

/**
 * For how many of the latest chain blocks seen_before is kept: as many blocks as there are in the hour within which mainnet merges what was
 * mined beside the chain. Deeper reorgs are looked up in the rows of the chain instead.
 */
const SEEN_BEFORE_BLOCKS = 36_000;
/** Chain blocks. */
const PRUNE_EVERY = 100;

export interface RollupChanges {
  /** Of every script of the batch, after it. */
  sightings: Map<number, Sighting>;
  /** Those of them that have no row in `balances` yet. */
  newScripts: number[];
  intervals: IntervalChanges;
  seenBefore: SeenBefore[];
}

/**
 * @param removed from the top downwards
 * @param scripts whose sightings are wanted, too
 */
export async function followRollups(
  client: ClientBase,
  batch: Batch,
  removed: readonly ChainBlockTotals[],
  scripts: readonly BalanceChange[],
): Promise<RollupChanges> {
  const touched = [...removed, ...batch.chainTotals].flatMap((block) => [...block.scripts]);
  const wanted = [...new Set([...touched, ...scripts.map(({ script }) => script)])];
  const known = await readSightings(client, wanted);
  const before = await sightingsAtFork(client, batch, removed, known);
  const undone = removed.toReversed();
  const intervals = new IntervalChanges(batch.forkTime);
  const { activities: undoneActivities } = replay(undone, before);
  undone.forEach((block, i) => intervals.remove(block, undoneActivities[i] as (typeof undoneActivities)[number]));
  const { activities, seenBefore, sightings } = replay(batch.chainTotals, before);
  batch.chainTotals.forEach((block, i) => intervals.append(block, activities[i] as (typeof activities)[number]));
  const newScripts = wanted.filter((script) => !known.now.has(script));
  return { sightings: new Map([...before, ...sightings]), newScripts, intervals, seenBefore };
}

/** When the checkpoint is written, whose supply intervals end with. */
export async function writeRollups(
  client: ClientBase,
  batch: Batch,
  { intervals, seenBefore }: RollupChanges,
): Promise<void> {
  if (batch.removed.length === 0 && seenBefore.length === 0) return;
  await writeIntervals(client, intervals, batch.removed.length > 0);
  await writeSeenBefore(client, batch, seenBefore);
}

async function writeIntervals(client: ClientBase, intervals: IntervalChanges, mayEmpty: boolean): Promise<void> {
  const changes = intervals.all();
  await client.query({
    name: 'change-intervals',
    text: `insert into network_intervals (length, start, chain_blocks, blocks, red_blocks, transactions, fees, volume, minted, supply,
             active_scripts, new_scripts, work)
           select i.length, i.start, i.chain_blocks, i.blocks, i.red_blocks, i.transactions, i.fees, i.volume, i.minted,
                  checkpoint.circulating_sompi - i.minted_later, i.active_scripts, i.new_scripts, i.work
             from checkpoint,
                  unnest($1::interval_length[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                         $8::numeric[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::numeric[])
                    i (length, start, chain_blocks, blocks, red_blocks, transactions, fees, volume, minted, minted_later,
                       active_scripts, new_scripts, work)
           on conflict (length, start) do update set
             chain_blocks = network_intervals.chain_blocks + excluded.chain_blocks,
             blocks = network_intervals.blocks + excluded.blocks,
             red_blocks = network_intervals.red_blocks + excluded.red_blocks,
             transactions = network_intervals.transactions + excluded.transactions,
             fees = network_intervals.fees + excluded.fees,
             volume = network_intervals.volume + excluded.volume,
             minted = network_intervals.minted + excluded.minted,
             supply = excluded.supply,
             active_scripts = network_intervals.active_scripts + excluded.active_scripts,
             new_scripts = network_intervals.new_scripts + excluded.new_scripts,
             work = network_intervals.work + excluded.work`,
    values: [
      changes.map(({ length }) => length),
      changes.map(({ start }) => start),
      changes.map(({ chainBlocks }) => chainBlocks),
      changes.map(({ blocks }) => blocks),
      changes.map(({ redBlocks }) => redBlocks),
      changes.map(({ transactions }) => transactions),
      changes.map(({ fees }) => fees),
      changes.map(({ volume }) => volume),
      changes.map(({ minted }) => minted),
      changes.map(({ mintedLater }) => mintedLater),
      changes.map(({ activeScripts }) => activeScripts),
      changes.map(({ newScripts }) => newScripts),
      changes.map(({ work }) => work),
    ],
  });
  if (!mayEmpty) return;
  await client.query(
    `delete from network_intervals i using unnest($1::interval_length[], $2::bigint[]) changed (length, start)
      where i.length = changed.length and i.start = changed.start and i.chain_blocks = 0`,
    [changes.map(({ length }) => length), changes.map(({ start }) => start)],
  );
}

async function writeSeenBefore(client: ClientBase, { from, removed, to }: Batch, rows: SeenBefore[]): Promise<void> {
  if (removed.length > 0) {
    await client.query('delete from seen_before where chain_index > $1', [from.chainIndex - removed.length]);
  }
  await client.query({
    name: 'write-seen-before',
    text: `insert into seen_before (chain_index, script_ids, last_seen)
           select chain_index, script_ids::bigint[], last_seen::bigint[] from unnest($1::bigint[], $2::text[], $3::text[])
             block (chain_index, script_ids, last_seen)`,
    values: [
      rows.map(({ chainIndex }) => chainIndex),
      rows.map(({ scripts }) => `{${scripts.join(',')}}`),
      rows.map(({ lastSeen }) => `{${lastSeen.map((time) => time ?? 'null').join(',')}}`),
    ],
  });
  if (Math.floor(to.chainIndex / PRUNE_EVERY) === Math.floor(from.chainIndex / PRUNE_EVERY)) return;
  await client.query('delete from seen_before where chain_index <= $1', [to.chainIndex - SEEN_BEFORE_BLOCKS]);
}
