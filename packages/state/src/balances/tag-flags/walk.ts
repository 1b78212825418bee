/**
 * Sets flags along the rings of clusters that gained or lost a name, in steps of some thousand
 * members, since a ring may have millions. Idempotent.
 */
import type { ClientBase } from 'pg';
import { queueTagFlags } from './tag-flags.ts';

const RANGES_AT_ONCE = 100;

const HAS_OWN_TAG = 'exists (select from scripts s join tags t on t.address = s.address where s.id = b.script_id)';

export async function workOffTagFlags(client: ClientBase, members: number): Promise<void> {
  const { rows } = await client.query<{
    end: bigint;
    at: bigint;
    cluster: bigint | null;
    atCluster: bigint | null;
    isNamed: boolean;
  }>({
    name: 'queued-tag-flags',
    text: `select m.*, c.name is not null as "isNamed"
             from (select script_id as "end", at_script_id as at, cluster_of(script_id) as cluster,
               cluster_of(at_script_id) as "atCluster"
                     from pending_tag_flags order by script_id limit $1) m
             left join clusters c on c.id = m.cluster
            order by m."end"`,
    values: [RANGES_AT_ONCE],
  });
  let walked = 0;
  for (const { end, at, cluster, atCluster, isNamed } of rows) {
    if (walked >= members) break;
    if (cluster === null || cluster !== atCluster) {
      await restart(client, end, at, [cluster, atCluster]);
      walked += 1;
    } else walked += await walk(client, { end, at, isNamed, members: members - walked });
  }
}

export async function findQueued(client: ClientBase, clusters: readonly bigint[]): Promise<Set<bigint>> {
  const { rows } = await client.query<{ id: bigint }>(
    `select of_mark.id
       from pending_tag_flags cross join lateral (values (cluster_of(script_id)),
         (cluster_of(at_script_id))) of_mark (id)
      where of_mark.id = any($1::bigint[])`,
    [clusters],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Sets the flags of scripts outside of clusters, which follow from their own tags alone. */
export async function setOwnTagFlags(client: ClientBase, scripts: readonly bigint[]): Promise<void> {
  if (scripts.length === 0) return;
  await client.query(`update balances b set is_tagged = ${HAS_OWN_TAG} where b.script_id = any($1::bigint[])`, [
    scripts,
  ]);
}

/**
 * Queues both clusters from scratch: merges were undone meanwhile, and no walk leads from one ring
 * to the end in another.
 */
async function restart(
  client: ClientBase,
  end: bigint,
  at: bigint,
  clusters: readonly (bigint | null)[],
): Promise<void> {
  await client.query('delete from pending_tag_flags where script_id = $1', [end]);
  const alone = [end, at].filter((_, index) => clusters[index] === null);
  await setOwnTagFlags(client, alone);
  const rings = clusters.filter((cluster) => cluster !== null);
  const ranges = rings.map((root) => ({ from: root, end: root }));
  await queueTagFlags(client, ranges);
}

async function walk(
  client: ClientBase,
  { end, at, isNamed, members }: { end: bigint; at: bigint; isNamed: boolean; members: number },
): Promise<number> {
  const { rows } = await client.query<{ next_id: bigint; position: number }>({
    name: 'walk-tag-flags',
    text: `with recursive walk as (
             select m.script_id, m.next_id, 1 as position from cluster_members m
               where m.script_id = $1
             union all
             select m.script_id, m.next_id, walk.position + 1
               from walk join cluster_members m on m.script_id = walk.next_id
                 where walk.next_id <> $2 and walk.position < $3
           ), flagged as (
             update balances b set is_tagged = not b.is_tagged from walk
              where b.script_id = walk.script_id and b.is_tagged <> ($4 or ${HAS_OWN_TAG})
           )
           select next_id, position from walk order by position desc limit 1`,
    values: [at, end, members, isNamed],
  });
  const [last] = rows;
  if (last === undefined || last.next_id === end) {
    await client.query('delete from pending_tag_flags where script_id = $1', [end]);
  } else {
    await client.query('update pending_tag_flags set at_script_id = $2 where script_id = $1', [end, last.next_id]);
  }
  return last?.position ?? 1;
}
