/** Clusters of scripts with one owner. A batch updates their balances; merges are separate transactions at a depth (step.ts). */
import { BalanceDeltas } from '../balances/balance-deltas.ts';
import type { DerivedState } from '../derived-state.ts';
import { belowRoots } from '../common-table-expressions.ts';
import { columnsOf } from '../queryable.ts';
import { verifyClusterBalances, verifyClusters } from './verify.ts';

export const clusters: DerivedState = {
  name: 'clusters',
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
               from (
                 -- Like cluster_of, for all scripts in one query.
                 with recursive up as (
                   select changed.balance, m.script_id, m.parent_id
                     from unnest($1::bigint[], $2::bigint[]) changed (script_id, balance)
                     join cluster_members m on m.script_id = changed.script_id
                   union all
                   select up.balance, m.script_id, m.parent_id
                     from up join cluster_members m on m.script_id = up.parent_id)
                 select script_id as id, sum(balance) as balance from up where parent_id is null group by script_id
               ) changed
              where c.id = changed.id and changed.balance <> 0`,
      values: columnsOf(deltas, 'script', 'balance'),
    });
  },

  /** Sums balances only: an earlier version may have left clusters when it began to catch up after a gap. */
  async rebuildLocked(client) {
    await client.query(
      `with ${belowRoots('')},
       sums as (
         select cluster_id, sum(balance) as balance from members join balances using (script_id) group by cluster_id)
       update clusters c set balance = coalesce((select s.balance from sums s where s.cluster_id = c.id), 0)`,
    );
  },
};
