import type { ClientBase } from 'pg';
import { addTagsOfMembers, moveClusterTags } from '@kasgres/database';
import { columnsOf } from '../queryable.ts';
import { queueTagFlags } from '../balances/tag-flags/tag-flags.ts';
import type { Cluster, Forest, Merge } from './forest.ts';
import { settleHeld } from './held-merges.ts';
import { findNamed, type KnownCluster, type Position } from './read.ts';

export async function writeForest(
  client: ClientBase,
  forest: Forest,
  before: readonly KnownCluster[],
  chainIndex: bigint,
): Promise<void> {
  await settleHeld(client, forest, chainIndex);
  if (forest.merges.length === 0) return;
  await writeMerges(client, forest.merges);
  await writeMembers(client, forest);
  await upsertClusters(client, forest.grown());
  const gone = forest.gone();
  if (gone.length > 0) await client.query('delete from clusters where id = any($1::bigint[])', [gone]);
  await writeNames(client, forest, before);
}

export async function writePosition(client: ClientBase, position: Position): Promise<void> {
  await client.query({
    name: 'write-clustering',
    text: `insert into clustering (chain_index, block_id, next_merge_id, next_held_merge_id,
      updated_at) values ($1, $2, $3, $4, now())
           on conflict (one_row) do update set
             chain_index = excluded.chain_index, block_id = excluded.block_id,
             next_merge_id = excluded.next_merge_id,
             next_held_merge_id = excluded.next_held_merge_id, updated_at = excluded.updated_at`,
    values: [position.chainIndex, position.blockId, position.nextMergeId, position.nextHeldMergeId],
  });
}

async function writeMerges(client: ClientBase, merges: readonly Merge[]): Promise<void> {
  await client.query({
    name: 'write-cluster-merges',
    text: `insert into cluster_merges (id, chain_index, transaction_id, cluster_id,
             merged_cluster_id, script_id, merged_script_id, held_merge_id, size_limit,
             merged_size_limit)
           select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],
             $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])`,
    values: columnsOf(
      merges,
      'id',
      'chainIndex',
      'transaction',
      'cluster',
      'mergedCluster',
      'script',
      'mergedScript',
      'heldMerge',
      'sizeLimit',
      'mergedSizeLimit',
    ),
  });
}

async function writeMembers(client: ClientBase, forest: Forest): Promise<void> {
  await client.query({
    name: 'write-cluster-members',
    text: `merge into cluster_members m
           using unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
                   changed (script_id, parent_id, merge_id, next_id, previous_id)
              on m.script_id = changed.script_id
           when matched then update set
             parent_id = changed.parent_id, merge_id = changed.merge_id, next_id = changed.next_id,
               previous_id = changed.previous_id
           when not matched then insert
             values (changed.script_id, changed.parent_id, changed.merge_id, changed.next_id,
               changed.previous_id)`,
    values: columnsOf(forest.memberRows(), 'script', 'parent', 'merge', 'next', 'previous'),
  });
  await writePrevious(client, forest.previousOfOthers());
}

export async function writePrevious(client: ClientBase, previous: ReadonlyMap<bigint, bigint>): Promise<void> {
  if (previous.size === 0) return;
  await client.query({
    name: 'write-previous-members',
    text: `update cluster_members m set previous_id = changed.previous_id
             from unnest($1::bigint[], $2::bigint[]) changed (script_id, previous_id)
            where m.script_id = changed.script_id`,
    values: [[...previous.keys()], [...previous.values()]],
  });
}

export async function upsertClusters(
  client: ClientBase,
  clusters: readonly Pick<Cluster, 'root' | 'size' | 'balance' | 'sizeLimit'>[],
): Promise<void> {
  await client.query({
    name: 'write-clusters',
    text: `merge into clusters c
           using unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) changed (id, size,
             balance, size_limit)
              on c.id = changed.id
           when matched then update set size = changed.size, balance = changed.balance,
             size_limit = changed.size_limit
           when not matched then insert (id, size, balance, size_limit)
             values (changed.id, changed.size, changed.balance, changed.size_limit)`,
    values: columnsOf(clusters, 'root', 'size', 'balance', 'sizeLimit'),
  });
}

async function writeNames(client: ClientBase, forest: Forest, before: readonly KnownCluster[]): Promise<void> {
  const known = new Map(before.map((cluster) => [cluster.root, cluster]));
  const scriptIds = await findTagged(client, forest.newMembers());
  await addTagsOfMembers(client, { scriptIds, clusterIds: scriptIds.map((script) => forest.find(script)) });
  for (const root of forest.gone()) {
    if (known.get(root)?.hasNames === true) await moveClusterTags(client, root, forest.find(root));
  }
  await queueJoined(client, forest, known);
}

async function findTagged(client: ClientBase, scripts: readonly bigint[]): Promise<bigint[]> {
  if (scripts.length === 0) return [];
  const { rows } = await client.query<{ id: bigint }>({
    name: 'tagged-new-members',
    text: 'select s.id from scripts s join tags t on t.address = s.address where s.id = any($1::bigint[]) order by s.id',
    values: [scripts],
  });
  return rows.map(({ id }) => id);
}

/**
 * Queues the ranges of rings that moved between a cluster with a name and one without. If the
 * remaining cluster gained or lost its name, its whole ring is already queued.
 */
async function queueJoined(
  client: ClientBase,
  forest: Forest,
  known: ReadonlyMap<bigint, KnownCluster>,
): Promise<void> {
  const grown = forest.grown().map(({ root }) => root);
  const named = await findNamed(client, grown);
  const wasNamed = (root: bigint): boolean => known.get(root)?.isNamed === true;
  const joined = forest.merges.filter(({ mergedCluster, cluster }) => {
    const isNamed = named.has(forest.find(cluster));
    return wasNamed(mergedCluster) !== isNamed && wasNamed(forest.find(cluster)) === isNamed;
  });
  const ranges = joined.map(({ ringStart, ringEnd }) => ({ from: ringStart, end: ringEnd }));
  await queueTagFlags(client, ranges);
}
