/**
 * Works off `tag_marks`: sets balances.is_tagged along the rings of clusters whose name came or went, some thousand members a step, since
 * a ring may have millions. What a member gets follows from its own tag and the cluster's name now, so walking twice is no harm.
 */
import type { ClientBase } from 'pg';
import { writeMarks } from './write.ts';

/** Marks looked at in a step; most are of few members. */
const MARKS_AT_ONCE = 100;

const HAS_OWN_TAG = 'exists (select from scripts s join tags t on t.address = s.address where s.id = b.script_id)';

/** @param members about how many to walk over */
export async function workOffTagMarks(client: ClientBase, members: number): Promise<void> {
  const { rows } = await client.query<{
    script_id: bigint;
    at_script_id: bigint;
    cluster_id: bigint | null;
    at_cluster_id: bigint | null;
    is_named: boolean;
  }>({
    name: 'tag-marks',
    text: `select m.*, c.name is not null as is_named
             from (select script_id, at_script_id, cluster_of(script_id) as cluster_id, cluster_of(at_script_id) as at_cluster_id
                     from tag_marks order by script_id limit $1) m
             left join clusters c on c.id = m.cluster_id
            order by m.script_id`,
    values: [MARKS_AT_ONCE],
  });
  let walked = 0;
  for (const { script_id: end, at_script_id: at, cluster_id: cluster, at_cluster_id: atCluster, is_named } of rows) {
    if (walked >= members) break;
    if (cluster === null || cluster !== atCluster) {
      await startAnew(client, end, at, [cluster, atCluster]);
      walked += 1;
    } else walked += await walk(client, { end, at, isNamed: is_named, members: members - walked });
  }
}

/** Clusters of which marks wait. @returns those of these */
export async function findMarked(client: ClientBase, clusters: readonly bigint[]): Promise<Set<bigint>> {
  const { rows } = await client.query<{ id: bigint }>(
    `select of_mark.id
       from tag_marks cross join lateral (values (cluster_of(script_id)), (cluster_of(at_script_id))) of_mark (id)
      where of_mark.id = any($1::bigint[])`,
    [clusters],
  );
  return new Set(rows.map(({ id }) => id));
}

/** What stands alone is marked by its own tag only. */
export async function markAlone(client: ClientBase, scripts: readonly bigint[]): Promise<void> {
  if (scripts.length === 0) return;
  await client.query(`update balances b set is_tagged = ${HAS_OWN_TAG} where b.script_id = any($1::bigint[])`, [
    scripts,
  ]);
}

/** Merges were undone on the way: there is no walking from one cluster to the end in another. Each is walked as a whole. */
async function startAnew(
  client: ClientBase,
  end: bigint,
  at: bigint,
  clusters: readonly (bigint | null)[],
): Promise<void> {
  await client.query('delete from tag_marks where script_id = $1', [end]);
  await markAlone(
    client,
    [end, at].filter((_, index) => clusters[index] === null),
  );
  const rings = clusters.filter((cluster) => cluster !== null);
  await writeMarks(
    client,
    rings.map((root) => ({ from: root, end: root })),
  );
}

async function walk(
  client: ClientBase,
  { end, at, isNamed, members }: { end: bigint; at: bigint; isNamed: boolean; members: number },
): Promise<number> {
  const { rows } = await client.query<{ next_id: bigint; place: number }>({
    name: 'walk-tag-marks',
    text: `with recursive walk as (
             select m.script_id, m.next_id, 1 as place from cluster_members m where m.script_id = $1
             union all
             select m.script_id, m.next_id, walk.place + 1
               from walk join cluster_members m on m.script_id = walk.next_id where walk.next_id <> $2 and walk.place < $3
           ), marked as (
             update balances b set is_tagged = not b.is_tagged from walk
              where b.script_id = walk.script_id and b.is_tagged <> ($4 or ${HAS_OWN_TAG})
           )
           select next_id, place from walk order by place desc limit 1`,
    values: [at, end, members, isNamed],
  });
  const [last] = rows;
  if (last === undefined || last.next_id === end) {
    await client.query('delete from tag_marks where script_id = $1', [end]);
  } else {
    await client.query('update tag_marks set at_script_id = $2 where script_id = $1', [end, last.next_id]);
  }
  return last?.place ?? 1;
}
