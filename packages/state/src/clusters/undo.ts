/**
 * Reverts clustering down to a chain block. The cost is proportional to the size of the clusters
 * that are split off.
 */
import { splitClusterTags } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { columnsOf } from '../queryable.ts';
import { queueTagFlags } from '../balances/tag-flags/tag-flags.ts';
import { findQueued, setOwnTagFlags } from '../balances/tag-flags/walk.ts';
import { undoHeld } from './held-merges.ts';
import { type UndoableMerge, undoMerges } from './forest.ts';
import { findAncestor, findNamed, type Fork, type KnownCluster, type Position, readClusters } from './read.ts';
import { upsertClusters, writePosition, writePrevious } from './write.ts';

/** Merges that a step reverts, or more if one chain block has more. */
const MERGES_AT_ONCE = 1_000;

/**
 * Reverts merges towards the fork, the highest chain block below the position, which may take
 * several steps.
 */
export async function undoTowards(client: ClientBase, position: Position, fork: Fork): Promise<number> {
  const { merges, to } = await readLastMerges(client, fork.chainIndex);
  if (merges.length > 0) await undo(client, merges);
  const held = await undoHeld(client, to);
  await client.query('delete from change_links where chain_index > $1', [to]);
  const blockId =
    to === fork.chainIndex
      ? fork.blockId
      : await findAncestor(client, position.blockId ?? 0n, position.chainIndex - to);
  await writePosition(client, {
    chainIndex: to,
    blockId,
    nextMergeId: merges.at(-1)?.id ?? position.nextMergeId,
    nextHeldMergeId: held.reduce((least, id) => (id < least ? id : least), position.nextHeldMergeId),
  });
  return merges.length;
}

/** Returns all merges above the chain index `to`, the latest first. */
async function readLastMerges(client: ClientBase, downTo: bigint): Promise<{ merges: UndoableMerge[]; to: bigint }> {
  for (let limit = MERGES_AT_ONCE; ; limit *= 2) {
    const { rows } = await client.query<UndoableMerge & { chainIndex: bigint }>(
      `select id, chain_index as "chainIndex", cluster_id as cluster,
              merged_cluster_id as "mergedCluster", size_limit as "sizeLimit",
              merged_size_limit as "mergedSizeLimit"
         from cluster_merges order by id desc limit $1`,
      [limit + 1],
    );
    const next = rows[limit]?.chainIndex ?? downTo;
    const to = next > downTo ? next : downTo;
    const merges = rows.filter(({ chainIndex }) => chainIndex > to);
    if (merges.length > 0 || to === downTo) return { merges, to };
  }
}

async function undo(client: ClientBase, merges: readonly UndoableMerge[]): Promise<void> {
  const touched = [...new Set(merges.flatMap(({ cluster, mergedCluster }) => [cluster, mergedCluster]))];
  const before = await readClusters(client, touched);
  const queued = await findQueued(client, touched);
  const { rows: members } = await client.query<{ script: bigint; next: bigint }>(
    'select script_id as script, next_id as next from cluster_members where script_id = any($1::bigint[])',
    [touched],
  );
  const limits = new Map(before.map(({ root, sizeLimit }) => [root, sizeLimit]));
  const undone = undoMerges(merges, new Map(members.map(({ script, next }) => [script, next])), limits);
  await client.query(
    `update cluster_members m set parent_id = null, merge_id = null, next_id = root.next_id
       from unnest($1::bigint[], $2::bigint[]) root (script_id, next_id)
         where m.script_id = root.script_id`,
    columnsOf(undone.roots, 'root', 'next'),
  );
  await writePrevious(client, undone.previous);
  await client.query('delete from cluster_merges where id >= $1', [merges.at(-1)?.id]);

  const parts = await sumUp(client, [...undone.splitFrom.keys()]);
  const rest = new Map(before.map(({ root, size, balance }) => [root, { root, size, balance }]));
  for (const part of parts) {
    const whole = rest.get(undone.splitFrom.get(part.root) ?? part.root);
    if (whole === undefined) throw new Error(`script ${part.root} was split off a cluster that does not exist`);
    whole.size -= part.size;
    whole.balance -= part.balance;
  }
  const all = [...rest.values(), ...parts];
  const alone = all.filter(({ size }) => size === 1n).map(({ root }) => root);
  const clusters = all.filter(({ size }) => size > 1n);
  await client.query('delete from cluster_members where script_id = any($1::bigint[])', [alone]);
  await client.query('delete from clusters where id = any($1::bigint[])', [alone]);
  await upsertClusters(
    client,
    clusters.map((cluster) => ({ ...cluster, sizeLimit: undone.sizeLimits.get(cluster.root) ?? null })),
  );
  await undoNames(client, { before, queued, splitFrom: undone.splitFrom, alone: new Set(alone) });
}

type Sums = Pick<KnownCluster, 'root' | 'size' | 'balance'>;

/** Sums sizes and balances along the rings of these roots. */
async function sumUp(client: ClientBase, roots: readonly bigint[]): Promise<Sums[]> {
  const { rows } = await client.query<Sums>(
    `with recursive ring as (
       select script_id as root, script_id, next_id from cluster_members
         where script_id = any($1::bigint[])
       union all
       select ring.root, m.script_id, m.next_id
         from ring join cluster_members m on m.script_id = ring.next_id
           where ring.next_id <> ring.root
     )
     select root, count(*) as size, coalesce(sum(b.balance), 0)::bigint as balance
       from ring left join balances b on b.script_id = ring.script_id group by root`,
    [roots],
  );
  return rows;
}

interface UndoneClusters {
  before: readonly KnownCluster[];
  queued: ReadonlySet<bigint>;
  splitFrom: ReadonlyMap<bigint, bigint>;
  alone: ReadonlySet<bigint>;
}

/**
 * Recounts names, and queues flags if the name of a cluster changes now, or changed before and the
 * walk along the ring is unfinished.
 */
async function undoNames(client: ClientBase, { before, queued, splitFrom, alone }: UndoneClusters): Promise<void> {
  for (const { root, hasNames, isNamed } of before) {
    const isQueued = queued.has(root);
    if (!hasNames && !isQueued) continue;
    const parts = [...splitFrom].filter(([, whole]) => whole === root).map(([part]) => part);
    if (hasNames) for (const part of parts) await splitClusterTags(client, root, part);
    const namedNow = await findNamed(client, [root, ...parts]);
    const changed = [root, ...parts].filter((part) => isQueued || isNamed || namedNow.has(part));
    const [single, rings] = [changed.filter((part) => alone.has(part)), changed.filter((part) => !alone.has(part))];
    await setOwnTagFlags(client, single);
    const ranges = rings.map((root) => ({ from: root, end: root }));
    await queueTagFlags(client, ranges);
  }
}
