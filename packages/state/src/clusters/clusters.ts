/**
 * Clusters of scripts with one owner. A batch updates their balances; merges are separate
 * transactions at a depth (step.ts).
 */
import { clusterRoots } from '@kasgres/database';
import { BalanceDeltas } from '../balances/balance-deltas.ts';
import type { DerivedState } from '../derived-state.ts';
import { belowRoots } from '../common-table-expressions.ts';
import { columnsOf } from '../queryable.ts';
import { verifyClusterBalances, verifyClusters } from './verify.ts';

const CHANGED_ROOTS = clusterRoots(
  `unnest($1::bigint[], $2::bigint[]) changed (script_id, balance)
   join cluster_members m on m.script_id = changed.script_id`,
  ', changed.balance',
  ', up.balance',
);

export const clusters: DerivedState = {
  verify: { 4: verifyClusterBalances, 12: verifyClusters },

  async apply(client, changes) {
    const deltas = changes
      .of(BalanceDeltas)
      .rows()
      .filter(({ balance }) => balance !== 0n);
    if (deltas.length === 0) return;
    await client.query({
      name: 'change-clusters',
      text: `update clusters c set balance = c.balance + changed.balance
               from (select root_id, sum(balance) as balance from (${CHANGED_ROOTS}) roots
                 group by root_id) changed
              where c.id = changed.root_id and changed.balance <> 0`,
      values: columnsOf(deltas, 'script', 'balance'),
    });
  },

  /**
   * Sums balances only: an earlier version may have left clusters when it began to catch up after a
   * gap.
   */
  rebuild: {
    locked: (client) =>
      client.query(
        `with ${belowRoots('')},
         sums as (
           select cluster_id, sum(balance) as balance from members join balances using (script_id)
             group by cluster_id)
         update clusters c set balance = coalesce((select s.balance from sums s
           where s.cluster_id = c.id), 0)`,
      ),
  },
};
