/**
 * The name of a cluster follows from the tags of its members, which are counted by name, label and
 * link (`cluster_names`, `cluster_labels`, `cluster_links`): a merge adds counts, undoing it
 * subtracts them, and neither reads the members of the larger cluster. Every change of tags or
 * clusters must update these counts in its transaction, under the lock of the checkpoint.
 */
import type { ClientBase } from 'pg';

type Client = Pick<ClientBase, 'query'>;

/** Scripts and the cluster of each: two lists of the same length. */
interface Members {
  scriptIds: readonly bigint[];
  clusterIds: readonly bigint[];
}

/** The counts of members' tags. */
const COUNTS = [
  { table: 'cluster_names', key: 'name, actor', of: 'select t.name, t.actor' },
  { table: 'cluster_labels', key: 'label', of: 'select distinct unnest(t.labels)' },
  { table: 'cluster_links', key: 'confidence_level, link', of: `select t.confidence_level, t.link where t.link <> ''` },
] as const;

/**
 * The name of the cluster `c`, if all its names are of one owner: one name, or names that each have
 * the only actor.
 */
const NAME_OF_CLUSTER = `
  select case when count(*) = 1 or count(distinct actor) filter (where actor <> '') = 1
    and bool_and(actor <> '')
              then (array_agg(name order by addresses desc, name collate "C"))[1] end as name
    from (select name, max(actor) as actor, sum(addresses) as addresses,
      count(distinct nullif(actor, '')) as actors
            from cluster_names n where n.cluster_id = c.id group by name) names
  having bool_and(actors <= 1)`;

/** Counts the tags of new members and renames their clusters. */
export async function addTagsOfMembers(client: Client, members: Members): Promise<void> {
  if (members.scriptIds.length === 0) return;
  await countTags(client, members, 1);
  await resolveClusterTags(client, members.clusterIds);
}

/** Adds the counts of a merged cluster to the other cluster and renames that. */
export async function moveClusterTags(client: Client, fromCluster: bigint, toCluster: bigint): Promise<void> {
  for (const { table, key } of COUNTS) {
    await client.query(
      `with gone as (delete from ${table} where cluster_id = $1 returning *)
       insert into ${table} (cluster_id, ${key}, addresses) select $2, ${key}, addresses from gone
       on conflict (cluster_id, ${key}) do update
         set addresses = ${table}.addresses + excluded.addresses`,
      [fromCluster, toCluster],
    );
  }
  await resolveClusterTags(client, [toCluster]);
}

/**
 * Undoes a merge: subtracts the tags of the split-off members from the cluster, and renames both.
 * The split-off members must form a ring again. A single script without a ring is not a cluster and
 * has no counts.
 */
export async function splitClusterTags(client: Client, fromCluster: bigint, splitCluster: bigint): Promise<void> {
  const { rows } = await client.query<{ script_id: bigint; is_member: boolean }>(
    `with recursive ring as (
       select $1::bigint as script_id,
         (select next_id from cluster_members where script_id = $1) as next_id
       union all
       select m.script_id, m.next_id from ring join cluster_members m on m.script_id = ring.next_id
         where m.script_id <> $1
     )
     select script_id, next_id is not null as is_member from ring`,
    [splitCluster],
  );
  const scriptIds = rows.map(({ script_id }) => script_id);
  await countTags(client, { scriptIds, clusterIds: scriptIds.map(() => fromCluster) }, -1);
  if (rows[0]?.is_member === true) {
    await countTags(client, { scriptIds, clusterIds: scriptIds.map(() => splitCluster) }, 1);
  }
  await resolveClusterTags(client, [fromCluster, splitCluster]);
}

/** Adds the tags of these members to the counts of their clusters, or subtracts them. */
async function countTags(client: Client, { scriptIds, clusterIds }: Members, sign: 1 | -1): Promise<void> {
  const source = `
    select m.cluster_id, $3::bigint as change, t.name, t.actor, t.link, t.labels, t.confidence_level
      from unnest($1::bigint[], $2::bigint[]) m (script_id, cluster_id)
      join scripts s on s.id = m.script_id
        join tags t on t.address = s.address and t.names_cluster`;
  await count(client, source, [scriptIds, clusterIds, sign]);
  if (sign < 0) await dropZeros(client, [...new Set(clusterIds)]);
}

/**
 * Updates the counts by the changed tags in the table `retagged_members` (write-tags.ts), and
 * renames the clusters.
 */
export async function recountTags(client: Client, clusterIds: readonly bigint[]): Promise<void> {
  if (clusterIds.length === 0) return;
  const source = `
    select cluster_id, -1 as change, old_name as name, old_actor as actor, old_link as link,
           old_labels as labels, old_confidence_level as confidence_level
      from retagged_members where old_name is not null and old_names_cluster
    union all
    select cluster_id, 1, name, actor, link, labels, confidence_level from retagged_members
      where name is not null and names_cluster`;
  await count(client, source, []);
  await dropZeros(client, clusterIds);
  await resolveClusterTags(client, clusterIds);
}

/** @param source added (`change` is 1) and removed (-1) tags, each with its cluster */
async function count(client: Client, source: string, values: unknown[]): Promise<void> {
  for (const { table, key, of } of COUNTS) {
    await client.query(
      `insert into ${table} (cluster_id, ${key}, addresses)
       select cluster_id, ${key}, sum(change)
         from (select t.cluster_id, t.change, of_tag.* from (${source}) t
           cross join lateral (${of}) of_tag (${key})) counted
        group by cluster_id, ${key} having sum(change) <> 0
       on conflict (cluster_id, ${key}) do update
         set addresses = ${table}.addresses + excluded.addresses`,
      values,
    );
  }
}

async function dropZeros(client: Client, clusterIds: readonly bigint[]): Promise<void> {
  for (const { table } of COUNTS) {
    await client.query(`delete from ${table} where cluster_id = any($1::bigint[]) and addresses = 0`, [clusterIds]);
  }
}

/**
 * Names clusters by the counts of their members' tags: by their only name, with all labels and the
 * most confident link (of several, the most frequent). Names of one actor are one name, of which
 * the most frequent spelling counts. Members with several names give no name. If a name appears or
 * disappears, `pending_tag_flags` gets a row, so that the flags of the members are updated. Counts
 * of former clusters are deleted.
 */
export async function resolveClusterTags(client: Client, clusterIds: readonly bigint[]): Promise<void> {
  const distinctIds = [...new Set(clusterIds)];
  if (distinctIds.length === 0) return;
  for (const { table } of COUNTS) {
    await client.query(
      `delete from ${table} where cluster_id = any($1::bigint[])
        and not exists (select from clusters where id = cluster_id)`,
      [distinctIds],
    );
  }
  await client.query(
    `with resolved as (
       select c.id, c.name as old_name, one.name,
         coalesce((select link from cluster_links l
           where l.cluster_id = c.id and one.name is not null
                    order by confidence_level desc, addresses desc, link collate "C"
                      limit 1), '') as link,
         array(select label from cluster_labels l where l.cluster_id = c.id and one.name is not null
                order by label collate "C") as labels
         from clusters c
        left join lateral (
          ${NAME_OF_CLUSTER}
        ) one on true
        where c.id = any($1::bigint[])
     ), changed as (
       update clusters c set name = r.name, link = r.link, labels = r.labels
         from resolved r
        where c.id = r.id and (c.name, c.link, c.labels) is distinct from (r.name, r.link, r.labels)
       returning c.id, r.old_name, r.name
     )
     insert into pending_tag_flags (script_id, at_script_id)
     select id, id from changed where (old_name is null) <> (name is null)
     on conflict (script_id) do update set at_script_id = excluded.at_script_id`,
    [distinctIds],
  );
}
