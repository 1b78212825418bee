/**
 * The name of a cluster comes from the tags of its members. How many of them say what is counted (`cluster_names`,
 * `cluster_labels`, `cluster_links`), so that a merge adds numbers up, undoing it takes them away again, and no request walks the
 * members of the larger cluster. Whoever writes tags, and whoever changes clusters, tells it here, in the transaction of the
 * change and under the lock of the checkpoint.
 */
import type { ClientBase } from 'pg';

type Client = Pick<ClientBase, 'query'>;

/** Scripts, and the cluster of each: two lists of one length. */
interface Members {
  scriptIds: readonly bigint[];
  clusterIds: readonly bigint[];
}

/** What is counted of a member's tag, and where. */
const COUNTS = [
  { table: 'cluster_names', key: 'name', of: 'select t.name' },
  { table: 'cluster_labels', key: 'label', of: 'select distinct unnest(t.labels)' },
  { table: 'cluster_links', key: 'confidence_level, link', of: `select t.confidence_level, t.link where t.link <> ''` },
] as const;

/** Counts the tags of scripts that have just become members of these clusters, and names the clusters anew. */
export async function addTagsOfMembers(client: Client, members: Members): Promise<void> {
  if (members.scriptIds.length === 0) return;
  await countTags(client, members, 1);
  await resolveClusterTags(client, members.clusterIds);
}

/** The counts of a cluster that was put below another become those of the other, which is named anew. */
export async function moveClusterTags(client: Client, fromCluster: bigint, toCluster: bigint): Promise<void> {
  for (const { table, key } of COUNTS) {
    await client.query(
      `with gone as (delete from ${table} where cluster_id = $1 returning *)
       insert into ${table} (cluster_id, ${key}, addresses) select $2, ${key}, addresses from gone
       on conflict (cluster_id, ${key}) do update set addresses = ${table}.addresses + excluded.addresses`,
      [fromCluster, toCluster],
    );
  }
  await resolveClusterTags(client, [toCluster]);
}

/**
 * Undoes a merge: what the members of one cluster counted in another is taken from there, and both are named anew. The ring of
 * the one that is split off must be its own again; a script without a ring stands alone, and has no counts.
 */
export async function splitClusterTags(client: Client, fromCluster: bigint, splitCluster: bigint): Promise<void> {
  const { rows } = await client.query<{ script_id: bigint; is_member: boolean }>(
    `with recursive ring as (
       select $1::bigint as script_id, (select next_id from cluster_members where script_id = $1) as next_id
       union all
       select m.script_id, m.next_id from ring join cluster_members m on m.script_id = ring.next_id where m.script_id <> $1
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

/** Adds the tags that these members have now to the counts of their clusters, or takes them away. */
async function countTags(client: Client, { scriptIds, clusterIds }: Members, sign: 1 | -1): Promise<void> {
  const source = `
    select m.cluster_id, $3::bigint as change, t.name, t.link, t.labels, t.confidence_level
      from unnest($1::bigint[], $2::bigint[]) m (script_id, cluster_id)
      join scripts s on s.id = m.script_id join tags t on t.address = s.address`;
  await count(client, source, [scriptIds, clusterIds, sign]);
  if (sign < 0) await dropZeros(client, [...new Set(clusterIds)]);
}

/** Counts for these clusters what became of the tags in the table `retagged_members` (write-tags.ts), and names the clusters anew. */
export async function recountTags(client: Client, clusterIds: readonly bigint[]): Promise<void> {
  if (clusterIds.length === 0) return;
  const source = `
    select cluster_id, -1 as change, old_name as name, old_link as link, old_labels as labels, old_confidence_level as confidence_level
      from retagged_members where old_name is not null
    union all
    select cluster_id, 1, name, link, labels, confidence_level from retagged_members where name is not null`;
  await count(client, source, []);
  await dropZeros(client, clusterIds);
  await resolveClusterTags(client, clusterIds);
}

/** @param source tags that come (`change` is 1) and go (-1), each with the cluster in which it counts */
async function count(client: Client, source: string, values: unknown[]): Promise<void> {
  for (const { table, key, of } of COUNTS) {
    await client.query(
      `insert into ${table} (cluster_id, ${key}, addresses)
       select cluster_id, ${key}, sum(change)
         from (select t.cluster_id, t.change, of_tag.* from (${source}) t cross join lateral (${of}) of_tag (${key})) counted
        group by cluster_id, ${key} having sum(change) <> 0
       on conflict (cluster_id, ${key}) do update set addresses = ${table}.addresses + excluded.addresses`,
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
 * Names clusters by what is counted of their members' tags: by the one name that these give, with all their labels and the link of
 * the most confident of them (of several such, the one that most have). Several names are no name. Where a name came or went,
 * `tag_marks` is told that the marks of the members are to be set. Counts of what is no cluster any more are dropped.
 */
export async function resolveClusterTags(client: Client, clusterIds: readonly bigint[]): Promise<void> {
  const asked = [...new Set(clusterIds)];
  if (asked.length === 0) return;
  for (const { table } of COUNTS) {
    await client.query(
      `delete from ${table} where cluster_id = any($1::bigint[]) and not exists (select from clusters where id = cluster_id)`,
      [asked],
    );
  }
  await client.query(
    `with resolved as (
       select c.id, c.name as old_name, one.name,
         coalesce((select link from cluster_links l where l.cluster_id = c.id and one.name is not null
                    order by confidence_level desc, addresses desc, link collate "C" limit 1), '') as link,
         array(select label from cluster_labels l where l.cluster_id = c.id and one.name is not null
                order by label collate "C") as labels
         from clusters c
        cross join lateral (
          select case when count(*) = 1 then min(name) end as name
            from (select name from cluster_names n where n.cluster_id = c.id limit 2) names
        ) one
        where c.id = any($1::bigint[])
     ), changed as (
       update clusters c set name = r.name, link = r.link, labels = r.labels
         from resolved r
        where c.id = r.id and (c.name, c.link, c.labels) is distinct from (r.name, r.link, r.labels)
       returning c.id, r.old_name, r.name
     )
     insert into tag_marks (script_id, at_script_id)
     select id, id from changed where (old_name is null) <> (name is null)
     on conflict (script_id) do update set at_script_id = excluded.at_script_id`,
    [asked],
  );
}
