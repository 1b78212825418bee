/** Totals of the network by minute, hour and day (docs/adr/0007-rollups.md). */
import { BalanceDeltas } from '../balances/balance-deltas.ts';
import type { DerivedState } from '../derived-state.ts';
import { columnsOf } from '../queryable.ts';
import { type ActiveScripts, ScriptActivityChanges } from '../balances/script-activity/replay.ts';
import { addAccepted, type ChainBlockTotals, IntervalDeltas, totalsOf } from './interval-deltas.ts';
import { verifyNetworkIntervals } from './verify.ts';

class IntervalChanges {
  readonly added: ChainBlockTotals[] = [];
  removed: readonly ChainBlockTotals[] = [];
}

export const networkIntervals: DerivedState = {
  applies: 'after reads',
  tables: { filled: ['network_intervals'] },
  verify: { 4: verifyNetworkIntervals },

  collect(item, changes) {
    const { added } = changes.of(IntervalChanges);
    if (item.kind === 'chain-block') added.push(totalsOf(item.chainBlock));
    else if (item.kind === 'accepted') addAccepted(added.at(-1) as ChainBlockTotals, item.transaction);
  },

  async revert(_client, removed, changes) {
    const blocks = await removed.readBlocks();
    changes.of(IntervalChanges).removed = blocks.map((block) => totalsOf(block.chainBlock, block.transactions));
  },

  /**
   * Must run after script activity, which counts active scripts, and before the batch moves the
   * checkpoint, which has the supply.
   */
  async apply(client, changes) {
    const { added, removed } = changes.of(IntervalChanges);
    if (added.length === 0 && removed.length === 0) return;
    const { addedCounts, removedCounts } = changes.of(ScriptActivityChanges);
    const deltas = new IntervalDeltas(changes.range.forkTime);
    removed.forEach((block, i) => deltas.remove(block, removedCounts[i] as ActiveScripts));
    added.forEach((block, i) => deltas.append(block, addedCounts[i] as ActiveScripts));
    const rows = deltas.rows();
    await client.query({
      name: 'change-intervals',
      text: `merge into network_intervals n
             using (select i.*, checkpoint.circulating_sompi + $14::bigint - i.minted_later as supply
                      from checkpoint,
                           unnest($1::interval_length[], $2::bigint[], $3::bigint[], $4::bigint[],
                                  $5::bigint[], $6::bigint[], $7::numeric[], $8::numeric[],
                                  $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
                                  $13::numeric[])
                             i (length, start, chain_blocks, blocks, red_blocks, transactions, fees,
                                volume, minted, minted_later, active_scripts, new_scripts, work)) i
                on n.length = i.length and n.start = i.start
             when matched then update set
               chain_blocks = n.chain_blocks + i.chain_blocks,
               blocks = n.blocks + i.blocks,
               red_blocks = n.red_blocks + i.red_blocks,
               transactions = n.transactions + i.transactions,
               fees = n.fees + i.fees,
               volume = n.volume + i.volume,
               minted = n.minted + i.minted,
               supply = i.supply,
               active_scripts = n.active_scripts + i.active_scripts,
               new_scripts = n.new_scripts + i.new_scripts,
               work = n.work + i.work
             when not matched then insert (length, start, chain_blocks, blocks, red_blocks,
               transactions, fees, volume, minted, supply, active_scripts, new_scripts, work)
               values (i.length, i.start, i.chain_blocks, i.blocks, i.red_blocks, i.transactions,
                 i.fees, i.volume, i.minted, i.supply, i.active_scripts, i.new_scripts, i.work)`,
      values: [
        rows.map(({ length }) => length),
        rows.map(({ start }) => start),
        rows.map(({ chainBlocks }) => chainBlocks),
        rows.map(({ blocks }) => blocks),
        rows.map(({ redBlocks }) => redBlocks),
        rows.map(({ transactions }) => transactions),
        rows.map(({ fees }) => fees),
        rows.map(({ volume }) => volume),
        rows.map(({ minted }) => minted),
        rows.map(({ mintedLater }) => mintedLater),
        rows.map(({ activeScripts }) => activeScripts),
        rows.map(({ newScripts }) => newScripts),
        rows.map(({ work }) => work),
        changes.of(BalanceDeltas).supply,
      ],
    });
    if (removed.length === 0) return;
    await client.query({
      name: 'remove-intervals',
      text: `delete from network_intervals i using unnest($1::interval_length[], $2::bigint[]) changed (length, start)
              where i.length = changed.length and i.start = changed.start and i.chain_blocks = 0`,
      values: columnsOf(rows, 'length', 'start'),
    });
  },

  rebuild: { fromDeltas: [(client) => client.query('select make_network_intervals()')] },
};
