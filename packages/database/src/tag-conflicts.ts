/** Where names do not agree: for one address by several sources, and for a cluster by the tags of its members. */
import type { Pool, PoolClient } from 'pg';
import { findScripts } from './tag-sources.ts';

/** A name that is given to an address or a cluster, beside others. */
export interface ConflictingName {
  /** The address; that of its root for a cluster. */
  address: string;
  name: string;
  /** Number of members with it; undefined for an address. */
  addresses: bigint | undefined;
  /** Who says so. */
  sources: string[];
}

/** Of this many addresses, by address. */
export async function listConflictingAddresses(pool: Pool, limit: number): Promise<ConflictingName[]> {
  const { rows } = await pool.query<{ address: string; name: string; sources: string[] }>(
    `with conflicts as (
       select address from attributions group by address having min(name) <> max(name) order by address limit $1
     )
     select address, a.name, array_agg(distinct s.name order by s.name) as sources
       from conflicts join attributions a using (address) join tag_sources s on s.id = a.source_id
      group by address, a.name
      order by address, max(a.confidence_level) desc, a.name`,
    [limit],
  );
  return rows.map((row) => ({ ...row, addresses: undefined }));
}

/** Of this many clusters, the largest first. */
export async function listConflictingClusters(pool: Pool, limit: number): Promise<ConflictingName[]> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ cluster_id: bigint; address: string; name: string; addresses: bigint }>(
      `with conflicts as (
         select c.id, c.size from clusters c
          where c.id in (select cluster_id from cluster_names group by cluster_id having count(*) > 1)
          order by c.size desc, c.id limit $1
       )
       select cluster_id, coalesce(s.address, encode(s.script, 'hex')) as address, n.name, n.addresses
         from conflicts c join cluster_names n on n.cluster_id = c.id join scripts s on s.id = c.id
        order by c.size desc, cluster_id, n.addresses desc, n.name`,
      [limit],
    );
    const sources = await findSourcesOfNames(client, rows);
    return rows.map(({ cluster_id, address, name, addresses }) => ({
      address,
      name,
      addresses,
      sources: [...(sources.get(`${cluster_id} ${name}`) ?? [])].sort(),
    }));
  } finally {
    client.release();
  }
}

/** Who gives these names to members of these clusters, by cluster and name: found by the tags of these names. */
async function findSourcesOfNames(
  client: PoolClient,
  names: readonly { cluster_id: bigint; name: string }[],
): Promise<Map<string, Set<string>>> {
  const { rows: said } = await client.query<{ address: string; name: string; sources: string[] }>(
    `select t.address, t.name, array_agg(s.name) as sources
       from tags t
       join attributions a on a.address = t.address and a.name = t.name
       join tag_sources s on s.id = a.source_id
      where t.name collate "C" = any($1::text[])
      group by t.address, t.name`,
    [[...new Set(names.map(({ name }) => name))]],
  );
  const clusters = new Map(
    (
      await findScripts(
        client,
        said.map(({ address }) => address),
      )
    ).map(({ address, cluster_id }) => [address, cluster_id]),
  );
  const found = new Map<string, Set<string>>();
  for (const { address, name, sources } of said) {
    const key = `${clusters.get(address)} ${name}`;
    found.set(key, new Set([...(found.get(key) ?? []), ...sources]));
  }
  return found;
}
