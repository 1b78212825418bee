/**
 * The rows of `balances`, each of which has all that is known of a script: its balance and counts,
 * when it was first and last seen, the change of its latest hour, and whether it is tagged; and the
 * tables of what came before. A batch writes each row once.
 */
import { inPipeline } from '@kasgres/database';
import type { DerivedState } from '../derived-state.ts';
import { allOf } from '../queryable.ts';
import { BalanceDeltas } from './balance-deltas.ts';
import { changePreviousChanges, rebuildPreviousChanges } from './hourly-changes/previous-changes.ts';
import { HourlyDeltas } from './hourly-changes/hourly-deltas.ts';
import { verifyHourlyBalanceChanges } from './hourly-changes/verify.ts';
import { rebuildBalances } from './rebuild.ts';
import { ScriptActivityChanges } from './script-activity/replay.ts';
import { collectActivity, readActivity, revertActivity, writeSeenBefore } from './script-activity/script-activity.ts';
import { verifyScriptActivity } from './script-activity/verify.ts';
import { flagTagged } from './tag-flags/tag-flags.ts';
import { verifyTagFlags, verifyTags } from './tag-flags/verify.ts';
import { verifyBalances, verifyCurrentBalances } from './verify.ts';
import { writeBalances } from './write.ts';

export const balances: DerivedState = {
  applies: 'after reads',
  tables: {
    emptied: ['balances', 'unmerged_touches', 'seen_before', 'previous_balance_changes'],
    deferredIndexes: ['balances_balance', 'balances_tagged'],
  },
  rebuild: {
    fromDeltas: [rebuildBalances, rebuildPreviousChanges],
    locked: flagTagged,
  },
  verify: {
    4: allOf(verifyScriptActivity, verifyBalances, verifyHourlyBalanceChanges, verifyTagFlags),
    12: verifyTags,
    current: verifyCurrentBalances,
  },

  collect(item, changes) {
    collectActivity(item, changes);
    if (item.kind === 'touched') changes.of(BalanceDeltas).addTouched(item.scripts);
    if (item.kind !== 'accepted') return;
    changes.of(BalanceDeltas).add(item.transaction, 1);
    changes.of(HourlyDeltas).add(item.transaction, 1);
  },

  async revert(_client, removed, changes) {
    revertActivity(await removed.readBlocks(), changes);
    for (const transaction of await removed.readTransactions()) {
      changes.of(BalanceDeltas).add(transaction, -1);
      changes.of(HourlyDeltas).add(transaction, -1);
    }
  },

  /** Reads the present rows once, for all columns. */
  async read(client, changes) {
    await readActivity(client, changes);
    changes.of(HourlyDeltas).settle(changes.of(ScriptActivityChanges).stored);
  },

  async apply(client, changes) {
    await inPipeline(client, [
      () => writeSeenBefore(client, changes.range, changes.of(ScriptActivityChanges).seenBefore),
      () => writeBalances(client, changes),
      () => changePreviousChanges(client, changes.of(HourlyDeltas).earlier),
    ]);
  },
};
