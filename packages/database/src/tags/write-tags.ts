/**
 * Updates tags after attributions have changed, then the names of clusters and the flags of
 * scripts.
 */
import type { ClientBase } from 'pg';
import { clusterRoots } from '../clusters/cluster-roots.ts';
import { recountTags } from '../clusters/cluster-tags.ts';
import { LIMIT_IDLE_TIME } from '../connection/in-transaction.ts';

/** Order of attributions (`a`) of sources (`s`). The first one is the tag of the address. */
export const PRECEDENCE = `a.confidence_level desc, a.last_modified desc nulls last, s.name collate "C", a.name collate "C"`;

/**
 * Finds the tags of addresses with changed attributions, and writes those that differ from `tags`
 * to the table `retagged` together with the old tag. The name is null for an address without a tag.
 */
const CREATE_RETAGGED = `
  create temp table retagged on commit drop as
  with best as (
    select distinct on (address) address, a.name, a.link, a.labels, a.confidence_level, a.actor,
      a.names_cluster
      from touched left join (attributions a join tag_sources s on s.id = a.source_id)
        using (address)
     order by address, ${PRECEDENCE}
  )
  select address, best.name, best.link, best.labels, best.confidence_level, best.actor,
         best.names_cluster, t.name as old_name, t.link as old_link, t.labels as old_labels,
         t.confidence_level as old_confidence_level, t.actor as old_actor,
         t.names_cluster as old_names_cluster
    from best left join tags t using (address)
   where (best.name, best.link, best.labels, best.confidence_level, best.actor, best.names_cluster)
      is distinct from (t.name, t.link, t.labels, t.confidence_level, t.actor, t.names_cluster)`;

/**
 * Updates `tags` by the table `changes`.
 * @returns the number of changed tags, which the table `retagged` contains
 */
export async function writeTags(client: ClientBase): Promise<number> {
  await client.query('create temp table touched on commit drop as select distinct address from changes');
  await client.query('analyze touched');
  const { rowCount } = await client.query(CREATE_RETAGGED);
  await client.query('analyze retagged');
  await client.query('delete from tags t using retagged r where r.name is null and t.address = r.address');
  await client.query(
    `update tags t set name = r.name, link = r.link, labels = r.labels, confidence_level = r.confidence_level,
            actor = r.actor, names_cluster = r.names_cluster
       from retagged r where r.name is not null and r.old_name is not null
         and t.address = r.address`,
  );
  await client.query(
    `insert into tags (address, name, link, labels, confidence_level, actor, names_cluster)
     select address, name, link, labels, confidence_level, actor, names_cluster from retagged
       where name is not null and old_name is null
      order by address`,
  );
  return rowCount ?? 0;
}

const RETAGGED_ROOTS = clusterRoots(
  'retagged_scripts s join cluster_members m on m.script_id = s.script_id',
  ', s.script_id',
  ', up.script_id',
);

/**
 * Updates clusters and flags by the table `retagged`, under the lock of the checkpoint, which is
 * taken as late as possible.
 */
export async function updateClustersAndFlags(client: ClientBase): Promise<void> {
  // An index of genesis alone may still be discarded, and its keys assigned again.
  const { rows: last } = await client.query<{ id: bigint }>(
    'select coalesce(max(id), 0) as id from scripts where exists (select from checkpoint where block_id > 1)',
  );
  const lastId = last[0]?.id ?? 0n;
  await client.query(
    `create temp table retagged_scripts on commit drop as
     select s.id as script_id, r.* from retagged r join scripts s using (address) where s.id <= $1
       order by s.id`,
    [lastId],
  );
  await client.query('analyze retagged_scripts');
  await client.query(LIMIT_IDLE_TIME);
  // Locks the table, since there is no row before the first bootstrap.
  await client.query('lock table checkpoint in exclusive mode');
  await client.query(
    `insert into retagged_scripts select s.id, r.* from retagged r join scripts s using (address) where s.id > $1`,
    [lastId],
  );
  await client.query(
    `create temp table retagged_members on commit drop as
     select root_id as cluster_id, s.*
       from (${RETAGGED_ROOTS}) roots join retagged_scripts s using (script_id)`,
  );
  await client.query('analyze retagged_members');
  const { rows } = await client.query<{ cluster_id: bigint }>('select distinct cluster_id from retagged_members');
  await recountTags(
    client,
    rows.map(({ cluster_id }) => cluster_id),
  );
  await client.query(
    `update balances b set is_tagged = not b.is_tagged
       from retagged_scripts s left join retagged_members m using (script_id)
         left join clusters c on c.id = m.cluster_id
      where b.script_id = s.script_id
        and b.is_tagged <> (s.name is not null or c.name is not null)`,
  );
}
