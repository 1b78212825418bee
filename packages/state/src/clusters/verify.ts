/**
 * Invariant 12: clusters follow from merges in order, and merges from accepted transactions. Sizes,
 * balances and names are those of members.
 */
import { faultsOf, pagesByKey, type Queryable } from '../queryable.ts';
import type { Merge } from './forest.ts';
import { CUT, TREE } from '../common-table-expressions.ts';

const SELECT_WRONG_BALANCES = `
  with ${TREE},
  expected as (
    select root as id, sum(coalesce(b.balance, 0)) as balance from tree
      left join balances b using (script_id) group by root
  )
  select format('cluster %s: balance %s, its members have %s', id, c.balance,
    coalesce(e.balance, 0)) as fault
  from clusters c left join expected e using (id) where c.balance <> coalesce(e.balance, 0)
  limit 20`;

export const verifyClusterBalances = faultsOf(SELECT_WRONG_BALANCES);

const SELECT_LOST = `
  with ${TREE}
  select format('script %s is below no root of a cluster', script_id) as fault
  from cluster_members m where not exists (select from tree where tree.script_id = m.script_id)
    limit 20`;

const SELECT_WRONG_SUMS = `
  with ${TREE},
  counted as (
    select tree.root as id, count(*) as size, coalesce(sum(b.balance), 0) as balance
    from tree left join balances b using (script_id) group by tree.root
  )
  select format('cluster %s: size %s and balance %s, its members are %s with %s', id, c.size,
    c.balance, coalesce(e.size, 0), coalesce(e.balance, 0)) as fault
  from clusters c full join counted e using (id)
  where c.id is null or c.size is distinct from e.size or c.size < 2
    or (c.balance <> e.balance and not (select bool_or(first_catch_up) from checkpoint))
  limit 20`;

/**
 * Walks each ring. The inner limit makes each step a look-up by the primary key, where the planner
 * would otherwise scan the table.
 */
const SELECT_BROKEN_RINGS = `
  with ${TREE},
  walk as (
    select c.id as root, m.script_id, m.next_id, 1 as position, c.size
    from clusters c join cluster_members m on m.script_id = c.id
    union all
    select walk.root, m.script_id, m.next_id, walk.position + 1, walk.size
    from walk cross join lateral (
      select script_id, next_id from cluster_members where script_id = walk.next_id limit 1) m
    where walk.next_id <> walk.root and walk.position < walk.size
  ),
  walked as (select root, count(distinct script_id) as members, bool_or(next_id = root) as closes,
    max(size) as size from walk group by root)
  select format('cluster %s: its ring does not lead through all members', root) as fault from walked
    where members <> size or not closes
  union all
  select format('script %s is in the ring of another cluster', script_id)
  from (select script_id, root from walk except select script_id, root from tree) strangers
  union all
  select format('script %s is not the previous member of its next member', m.script_id)
    from cluster_members m
  left join cluster_members next on next.script_id = m.next_id
  where next.previous_id is distinct from m.script_id
  limit 20`;

const SELECT_WRONG_PARENTS = `
  select format('script %s is not below the parent that a merge gave it',
    coalesce(m.script_id, g.merged_cluster_id)) as fault
  from (select * from cluster_members where parent_id is not null or merge_id is not null) m
  full join cluster_merges g on g.id = m.merge_id
  where m.script_id is distinct from g.merged_cluster_id or m.parent_id
    is distinct from g.cluster_id
  limit 20`;

/**
 * Merges above a removed block are not reverted yet. A transaction that is accepted again after a
 * gap points to the later chain block, but remains in the list of the earlier one. Transactions
 * that retention removed are not there to check.
 */
const SELECT_UNFOUNDED = `
  with ${CUT}, position as (
    select p.chain_index, p.next_merge_id, c.block_id is not null as on_chain
    from clustering p left join chain_blocks c on c.index = p.chain_index
      and c.block_id = p.block_id
  )
  select format('merge %s of clusters does not follow from an accepted transaction', g.id) as fault
  from cluster_merges g cross join position
  left join held_merges held on held.id = g.held_merge_id
  where g.id >= position.next_merge_id or g.chain_index > position.chain_index
    or coalesce(held.chain_index, g.chain_index) > coalesce((select index from cut), -1) and (
    not exists (select from transaction_inputs i
      where i.transaction_id = g.transaction_id and i.script_id = g.script_id)
    or not exists (select from transaction_inputs i
      where i.transaction_id = g.transaction_id and i.script_id = g.merged_script_id)
    or position.on_chain and not exists (
      select from transactions t join chain_blocks c on c.index = t.accepting_index
      where t.id = g.transaction_id and c.index <= g.chain_index
        and (c.index = g.chain_index or g.held_merge_id is not null)
      union all
      select from chain_blocks c left join held_merges h on h.id = g.held_merge_id
      where c.index = coalesce(h.chain_index, g.chain_index)
        and g.transaction_id = any (c.accepted_transactions)))
  limit 20`;

const SELECT_WRONG_NAMES = `
  with ${TREE},
  counted as (
    select tree.root as cluster_id, t.name, t.actor, count(*) as addresses
    from tree join scripts s on s.id = tree.script_id
      join tags t on t.address = s.address and t.names_cluster
    group by tree.root, t.name, t.actor
  ),
  wrong_counts as (
    select cluster_id from cluster_names n full join counted c using (cluster_id, name, actor)
    where n.addresses is distinct from c.addresses
  ),
  by_name as (
    select cluster_id, name, max(actor) as actor, sum(addresses) as addresses,
      count(*) filter (where actor <> '') as actors
    from counted group by cluster_id, name
  ),
  named as (
    select cluster_id, (array_agg(name order by addresses desc, name collate "C"))[1] as name
      from by_name
    group by cluster_id
    having max(actors) <= 1 and (count(*) = 1 or min(actor) = max(actor) and min(actor) <> '')
  )
  select format('cluster %s does not have the name that the tags of its members give', id) as fault
  from (
    select cluster_id as id from wrong_counts
    union
    select c.id from clusters c left join named n on n.cluster_id = c.id
      where c.name is distinct from n.name
  ) wrong
  limit 20`;

const SELECT_WRONGLY_SETTLED = `
  select format('held merge %s counts as carried out, but its scripts are in different clusters',
    id) as fault from held_merges
  where state = 'merged' and (script_id = other_script_id or cluster_of(script_id)
    is distinct from cluster_of(other_script_id))
  limit 20`;

const SELECT_WRONG_COUNTS = `
  select format('held merge %s counts %s transactions instead of %s', h.id, h.transactions,
    1 + coalesce(r.transactions, 0)) as fault
  from held_merges h
  full join (select held_merge_id, sum(transactions) as transactions from held_merge_repeats
    group by 1) r on r.held_merge_id = h.id
  where h.transactions is distinct from 1 + coalesce(r.transactions, 0)
  limit 20`;

const MERGES_AT_ONCE = 100_000;

const SELECT_MERGES = `
  select id, cluster_id as cluster, merged_cluster_id as "mergedCluster", script_id as script,
    merged_script_id as "mergedScript"
  from cluster_merges where id > $1 order by id limit ${MERGES_AT_ONCE}`;

type MergeRow = Pick<Merge, 'id' | 'cluster' | 'mergedCluster' | 'script' | 'mergedScript'>;

const verifyRows = faultsOf(
  SELECT_LOST,
  SELECT_WRONG_SUMS,
  SELECT_BROKEN_RINGS,
  SELECT_WRONG_PARENTS,
  SELECT_UNFOUNDED,
  SELECT_WRONG_NAMES,
  SELECT_WRONGLY_SETTLED,
  SELECT_WRONG_COUNTS,
);

export async function verifyClusters(db: Queryable): Promise<string[]> {
  return [...(await verifyRows(db)), ...(await replay(db))];
}

async function replay(db: Queryable): Promise<string[]> {
  const parents = new Map<bigint, bigint>();
  const sizes = new Map<bigint, number>();
  const rootOf = (script: bigint): bigint => {
    let root = script;
    for (let up = parents.get(root); up !== undefined; up = parents.get(root)) root = up;
    return root;
  };
  const wrong: string[] = [];
  for await (const rows of pagesByKey<MergeRow>(db, SELECT_MERGES, 0n)) {
    for (const { id, cluster: stays, mergedCluster: goes, script, mergedScript } of rows) {
      const size = sizes.get(stays) ?? 1;
      const merged = sizes.get(goes) ?? 1;
      if (stays === goes || rootOf(script) !== stays || rootOf(mergedScript) !== goes || size < merged) {
        wrong.push(`merge ${id} of clusters is not of clusters that earlier merges formed`);
      }
      parents.set(goes, stays);
      sizes.set(stays, size + merged);
      sizes.delete(goes);
      if (wrong.length >= 20) return wrong;
    }
  }
  return wrong;
}
