/** Inserts a cluster for tests that read clusters, without the clustering of the indexer. */
import type { Pool, PoolClient } from 'pg';
import { addTagsOfMembers } from '../clusters/cluster-tags.ts';
import type { OwnerTag } from '../tags/tags.ts';

/**
 * @param members script keys; the first is the root, the others are below it
 * @param tag overrides the tags of its members
 */
export async function insertCluster(
  client: Pool | PoolClient,
  members: readonly bigint[],
  tag?: OwnerTag,
): Promise<void> {
  const [root] = members;
  await client.query(
    `insert into clusters (id, size, balance, name, link, labels)
     select $1, $2, coalesce((select sum(balance) from balances
       where script_id = any($3::bigint[])), 0), $4, $5, $6`,
    [root, members.length, members, tag?.name, tag?.link ?? '', tag?.labels ?? []],
  );
  await client.query(
    `insert into cluster_members (script_id, parent_id, next_id, previous_id)
     select script_id, nullif($2, script_id), coalesce(lead(script_id) over ring, $2),
       coalesce(lag(script_id) over ring, $3)
       from unnest($1::bigint[]) with ordinality members (script_id, place)
     window ring as (order by place)`,
    [members, root, members.at(-1)],
  );
  if (tag === undefined) {
    await addTagsOfMembers(client, { scriptIds: members, clusterIds: members.map(() => root ?? 0n) });
  } else {
    await client.query('update balances set is_tagged = true where script_id = any($1::bigint[])', [members]);
  }
}
