/**
 * Clusters of the scripts that spend together anywhere in an index, written by hand: whatever the transaction and the script, so that there are
 * many of them, with the rows and the merges that the indexer's clustering would leave.
 */
import type { Pool } from 'pg';

interface Merge {
  id: bigint;
  transactionId: bigint;
  /** Roots. */
  clusterId: bigint;
  mergedClusterId: bigint;
  scriptId: bigint;
  mergedScriptId: bigint;
}

/** @returns the members of each cluster, as addresses, in the order of its ring; the first is the root's */
export async function growClusters(pool: Pool): Promise<string[][]> {
  const parents = new Map<bigint, { parentId: bigint; mergeId: bigint }>();
  const rings = new Map<bigint, bigint[]>();
  const merges: Merge[] = [];
  const rootOf = (scriptId: bigint): bigint => {
    let root = scriptId;
    for (let row = parents.get(root); row !== undefined; row = parents.get(root)) root = row.parentId;
    return root;
  };
  for (const { transaction_id: transactionId, scripts } of await listSpenders(pool)) {
    const [first = 0n, ...others] = scripts;
    for (const other of others) {
      const [a, b] = [rootOf(first), rootOf(other)];
      if (a === b) continue;
      const [ringOfA, ringOfB] = [rings.get(a) ?? [a], rings.get(b) ?? [b]];
      const stays = ringOfA.length >= ringOfB.length;
      const [clusterId, mergedClusterId] = stays ? [a, b] : [b, a];
      const [scriptId, mergedScriptId] = stays ? [first, other] : [other, first];
      const id = BigInt(merges.length + 1);
      merges.push({ id, transactionId, clusterId, mergedClusterId, scriptId, mergedScriptId });
      parents.set(mergedClusterId, { parentId: clusterId, mergeId: id });
      // Two rings become one when their roots swap what comes next.
      const [[root = 0n, ...behind], [merged = 0n, ...behindMerged]] = stays ? [ringOfA, ringOfB] : [ringOfB, ringOfA];
      rings.set(clusterId, [root, ...behindMerged, merged, ...behind]);
      rings.delete(mergedClusterId);
    }
  }
  await write(pool, [...rings.values()], parents, merges);
  const { rows } = await pool.query<{ id: bigint; address: string }>('select id, address from scripts');
  const addresses = new Map(rows.map(({ id, address }) => [id, address]));
  return [...rings.values()].map((ring) => ring.map((scriptId) => addresses.get(scriptId) ?? ''));
}

interface Spenders {
  transaction_id: bigint;
  scripts: bigint[];
}

async function listSpenders(pool: Pool): Promise<Spenders[]> {
  const { rows } = await pool.query<Spenders>(`
    select i.transaction_id, array_agg(i.script_id order by i.index) as scripts
    from transaction_inputs i
    join scripts s on s.id = i.script_id and s.address is not null
    join transactions t on t.id = i.transaction_id and t.accepting_block_id is not null
    group by 1 having count(distinct i.script_id) > 1 order by 1`);
  return rows;
}

async function write(
  pool: Pool,
  rings: readonly (readonly bigint[])[],
  parents: ReadonlyMap<bigint, { parentId: bigint; mergeId: bigint }>,
  merges: readonly Merge[],
): Promise<void> {
  await pool.query(
    `insert into cluster_merges (id, chain_index, transaction_id, cluster_id, merged_cluster_id, script_id, merged_script_id)
     select id, 0, transaction_id, cluster_id, merged_cluster_id, script_id, merged_script_id
     from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
       m (id, transaction_id, cluster_id, merged_cluster_id, script_id, merged_script_id)`,
    [
      merges.map(({ id }) => id),
      merges.map(({ transactionId }) => transactionId),
      merges.map(({ clusterId }) => clusterId),
      merges.map(({ mergedClusterId }) => mergedClusterId),
      merges.map(({ scriptId }) => scriptId),
      merges.map(({ mergedScriptId }) => mergedScriptId),
    ],
  );
  const members = rings.flatMap((ring) =>
    ring.map((scriptId, place) => ({
      scriptId,
      ...parents.get(scriptId),
      nextId: ring[(place + 1) % ring.length],
      previousId: ring.at(place - 1),
    })),
  );
  await pool.query(
    `insert into cluster_members (script_id, parent_id, merge_id, next_id, previous_id)
     select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])`,
    [
      members.map(({ scriptId }) => scriptId),
      members.map(({ parentId }) => parentId ?? null),
      members.map(({ mergeId }) => mergeId ?? null),
      members.map(({ nextId }) => nextId),
      members.map(({ previousId }) => previousId),
    ],
  );
  await pool.query(
    `insert into clusters (id, size, balance)
     select root.script_id, count(*), coalesce(sum(b.balance), 0)
     from cluster_members root join cluster_members m on cluster_of(m.script_id) = root.script_id
     left join balances b on b.script_id = m.script_id
     where root.parent_id is null group by 1`,
  );
}
