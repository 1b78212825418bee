/**
 * Finds conflicting names: of one address by several sources, and of a cluster by the tags of its
 * members.
 */
import type { Pool } from 'pg';
import { clusterRoots } from '../clusters/cluster-roots.ts';

/** One of several names of an address or a cluster. */
interface ConflictingName {
  /** The address; for a cluster, that of its root. */
  address: string;
  name: string;
  /** Number of members with the name; undefined for an address. */
  addresses: bigint | undefined;
  /** Names of the sources. */
  sources: string[];
}

/** @param limit number of addresses */
export async function listConflictingAddresses(pool: Pool, limit: number): Promise<ConflictingName[]> {
  const { rows } = await pool.query<{ address: string; name: string; sources: string[] }>(
    `with conflicts as (
       select address from attributions group by address having min(name) <> max(name)
         order by address limit $1
     )
     select address, a.name, array_agg(distinct s.name order by s.name) as sources
       from conflicts join attributions a using (address) join tag_sources s on s.id = a.source_id
      group by address, a.name
      order by address, max(a.confidence_level) desc, a.name`,
    [limit],
  );
  return rows.map((row) => ({ ...row, addresses: undefined }));
}

/** Returns the largest clusters first. @param limit number of clusters */
export async function listConflictingClusters(pool: Pool, limit: number): Promise<ConflictingName[]> {
  const { rows } = await pool.query<{ cluster_id: bigint; address: string; name: string; addresses: bigint }>(
    `with conflicts as (
       select c.id, c.size from clusters c
        where c.name is null and c.id in (select cluster_id from cluster_names)
        order by c.size desc, c.id limit $1
     )
     select cluster_id, coalesce(s.address, encode(s.script, 'hex')) as address, n.name,
       sum(n.addresses)::bigint as addresses
       from conflicts c join cluster_names n on n.cluster_id = c.id join scripts s on s.id = c.id
      group by c.size, cluster_id, s.address, s.script, n.name
      order by c.size desc, cluster_id, addresses desc, n.name`,
    [limit],
  );
  const sources = await findSourcesOfNames(pool, rows);
  return rows.map(({ cluster_id, address, name, addresses }) => ({
    address,
    name,
    addresses,
    sources: sources.get(`${cluster_id} ${name}`) ?? [],
  }));
}

const NAMED_ROOTS = clusterRoots(
  `tags t join scripts s on s.address = t.address join cluster_members m on m.script_id = s.id
    where t.name collate "C" = any($1::text[])`,
  ', t.address, t.name',
  ', up.address, up.name',
);

/** Returns the sources that give these names to members of these clusters, by cluster and name. */
async function findSourcesOfNames(
  pool: Pool,
  names: readonly { cluster_id: bigint; name: string }[],
): Promise<Map<string, string[]>> {
  const { rows } = await pool.query<{ cluster_id: bigint; name: string; sources: string[] }>(
    `select named.root_id as cluster_id, named.name, array_agg(distinct s.name order by s.name) as sources
       from (${NAMED_ROOTS}) named
         join attributions a on a.address = named.address and a.name = named.name
       join tag_sources s on s.id = a.source_id
      group by named.root_id, named.name`,
    [[...new Set(names.map(({ name }) => name))]],
  );
  return new Map(rows.map(({ cluster_id, name, sources }) => [`${cluster_id} ${name}`, sources]));
}
