/**
 * Queries of clusters (migrations/0001_schema.sql): the cost of each depends on its result, not on
 * the size of the cluster.
 */
import { type Db } from '@kasgres/reads';
import { sql } from 'kysely';
import type { Slice } from '../../../pages/read-page.ts';
import { automaticLabelsOf, clusterOf } from '../tags.ts';
import type { Link, Member } from './find-links.ts';
import {
  type AttributionJson,
  type ChangeSuggestionJson,
  type ClusterJson,
  type ClusterMemberJson,
  type EvidenceJson,
  MAX_ATTRIBUTIONS,
  MAX_CHANGE_SUGGESTIONS,
  MAX_NAMES,
  MAX_TAGS_OF_NAME,
} from './schemas.ts';

type AttributionRow = AttributionJson & { tagName: string };
type ClusterRow = Omit<ClusterJson, 'names' | 'clusteredTo'> & { rootId: bigint };

export async function findCluster(db: Db, scriptId: bigint): Promise<ClusterRow | undefined> {
  const { rows } = await sql<ClusterRow>`
    select c.id as "rootId", s.address as id, c.size::int as size, c.balance::text as balance,
      c.name, c.link, c.labels
    from clusters c join scripts s on s.id = c.id
    where c.id = cluster_of(${scriptId})`.execute(db);
  return rows[0];
}

export async function findClusteredTo(db: Db): Promise<ClusterJson['clusteredTo']> {
  const { rows } = await sql<NonNullable<ClusterJson['clusteredTo']>>`
    select encode(b.hash, 'hex') as hash, b.blue_score::text as "blueScore",
      b.daa_score::text as "daaScore"
    from clustering join blocks b on b.id = clustering.block_id`.execute(db);
  return rows[0] ?? null;
}

/** Returns the key of the script of an address if it is in the cluster. */
export async function findMember(db: Db, address: string, rootId: bigint): Promise<bigint | undefined> {
  const { rows } = await sql<{ id: bigint }>`
    select id from scripts where address = ${address} and cluster_of(id) = ${rootId}`.execute(db);
  return rows[0]?.id;
}

const tagOrNull = sql`case when t.address is not null then
  json_build_object('address', t.address, 'name', t.name, 'link', t.link, 'labels', t.labels) end`;

/**
 * Lists the members that follow `from` in the ring (or precede it, if backward), up to the root.
 */
export async function listMembers(
  db: Db,
  rootId: bigint,
  { from, isBackward, limit }: Slice<bigint>,
): Promise<ClusterMemberJson[]> {
  const step = isBackward ? sql`previous_id` : sql`next_id`;
  const isLast = isBackward ? sql`walk.script_id = ${rootId}` : sql`walk.step_id = ${rootId}`;
  const { rows } = await sql<ClusterMemberJson>`
    with recursive walk (script_id, step_id, position) as (
      select script_id, ${step}, ${from === undefined ? 1 : 0}::integer
      from cluster_members where script_id = ${from ?? rootId}
      union all
      select m.script_id, m.${step}, walk.position + 1
      from walk join cluster_members m on m.script_id = walk.step_id
      where not ${isLast} and walk.position < ${limit}
    )
    select s.address, coalesce(b.balance, 0)::text as balance, ${tagOrNull} as tag,
      ${automaticLabelsOf(sql`walk.script_id`)} as "automaticLabels"
    from walk
    join scripts s on s.id = walk.script_id
    left join balances b on b.script_id = walk.script_id
    left join tags t on t.address = s.address
    where walk.position > 0
    order by walk.position`.execute(db);
  return rows;
}

/** Returns an address without a cluster as the only member of one. */
export async function getUnclustered(
  db: Db,
  address: string,
  scriptId: bigint | undefined,
): Promise<ClusterMemberJson> {
  const { rows } = await sql<ClusterMemberJson>`
    select one.address, coalesce(b.balance, 0)::text as balance, ${tagOrNull} as tag,
      ${automaticLabelsOf(sql`one.script_id`)} as "automaticLabels"
    from (select ${address}::text as address, ${scriptId ?? null}::bigint as script_id) one
    left join balances b on b.script_id = one.script_id
    left join tags t on t.address = one.address`.execute(db);
  return rows[0] as ClusterMemberJson;
}

interface NameRow {
  name: string;
  addresses: number;
}

/**
 * Lists the most frequent names first. Considers the first thousand names, which bounds the cost.
 */
export async function listNames(db: Db, rootId: bigint): Promise<NameRow[]> {
  const { rows } = await sql<NameRow>`
    select name, addresses::int as addresses
    from (select name, sum(addresses) as addresses from cluster_names where cluster_id = ${rootId}
      group by name order by name limit 1000) names
    order by names.addresses desc, name collate "C" limit ${MAX_NAMES}`.execute(db);
  return rows;
}

interface NamedAddress {
  name: string;
  address: string;
}

/** Lists the members among the first addresses that have each of these names. */
export async function listNamedMembers(db: Db, rootId: bigint, names: readonly NameRow[]): Promise<NamedAddress[]> {
  const { rows } = await sql<NamedAddress>`
    select named.name, tagged.address
    from unnest(${names.map(({ name }) => name)}::text[]) as named (name)
    cross join lateral (
      select address from tags where tags.name collate "C" = named.name
      order by tags.name collate "C", tags.address collate "C" limit ${MAX_TAGS_OF_NAME}
    ) tagged
    join scripts s on s.address = tagged.address
    where ${clusterOf(sql`s.id`)} = ${rootId}`.execute(db);
  return rows;
}

/** Lists the attributions of addresses, the most frequent first. */
export async function listAttributions(db: Db, named: readonly NamedAddress[]): Promise<AttributionRow[]> {
  const { rows } = await sql<AttributionRow>`
    select tag_name as "tagName", source, creator, name, link, labels, category, confidence,
      confidence_level as "confidenceLevel", addresses::int as addresses
    from (
      select counted.*, row_number() over (partition by tag_name
        order by addresses desc, confidence_level desc, source collate "C", name collate "C",
          link collate "C", labels, category collate "C", confidence collate "C") as position
      from (
        select named.name as tag_name, src.name as source, src.creator, a.name, a.link, a.labels,
          a.category, a.confidence, a.confidence_level, count(*) as addresses
        from unnest(${named.map(({ name }) => name)}::text[],
          ${named.map(({ address }) => address)}::text[]) named (name, address)
        join attributions a on a.address = named.address
        join tag_sources src on src.id = a.source_id
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9
      ) counted
    ) ordered
    where position <= ${MAX_ATTRIBUTIONS}
    order by position`.execute(db);
  return rows;
}

/** Members that a statement loads beyond the requested ones. */
const MEMBERS_PER_LOAD = 500;

/**
 * Loads members, and those that their merges and parents lead to, nearest first, so that few
 * statements cover a long path.
 */
export async function loadMembers(db: Db, scriptIds: readonly bigint[]): Promise<Member[]> {
  const { rows } = await sql<Member>`
    with recursive met (script_id) as (
      select unnest(${scriptIds}::bigint[])
      union
      select leads.script_id
      from met
      join cluster_members m on m.script_id = met.script_id
      left join cluster_merges g on g.id = m.merge_id
      cross join lateral (values (m.parent_id), (g.script_id),
        (g.merged_script_id)) leads (script_id)
      where leads.script_id is not null
    )
    select m.script_id as "scriptId", m.parent_id as "parentId", g.id as "mergeId",
      g.transaction_id as "transactionId", g.script_id as "stayedScriptId",
      g.merged_script_id as "mergedScriptId"
    from (select script_id from met limit ${scriptIds.length + MEMBERS_PER_LOAD}) nearest
    join cluster_members m on m.script_id = nearest.script_id
    left join cluster_merges g on g.id = m.merge_id`.execute(db);
  return rows;
}

export async function loadLinks(db: Db, links: readonly Link[]): Promise<EvidenceJson['links']> {
  const { rows } = await sql<EvidenceJson['links'][number]>`
    select encode(t.transaction_id, 'hex') as "transactionId",
      array[near.address, far.address] as addresses,
      'common-input' as heuristic
    from unnest(
      ${links.map(({ transactionId }) => transactionId)}::bigint[],
      ${links.map(({ scriptIds }) => scriptIds[0])}::bigint[], ${links.map(({ scriptIds }) => scriptIds[1])}::bigint[]
    ) with ordinality as link (transaction_id, near_id, far_id, position)
    left join transactions t on t.id = link.transaction_id
    join scripts near on near.id = link.near_id
    join scripts far on far.id = link.far_id
    order by link.position`.execute(db);
  return rows;
}

/**
 * Lists the newest transactions in which the script is the assumed sender or change. The ranges
 * leave Postgres only one index for the order.
 */
export async function listChangeLinks(db: Db, scriptId: bigint): Promise<ChangeSuggestionJson[]> {
  const { rows } = await sql<ChangeSuggestionJson>`
    select encode(t.transaction_id, 'hex') as "transactionId", s.address,
      supposed.is_change as "isChange"
    from (
      (select transaction_id, change_script_id as other_id, true as is_change from change_links
       where script_id between ${scriptId} and ${scriptId}
         order by script_id desc, transaction_id desc limit ${MAX_CHANGE_SUGGESTIONS})
      union all
      (select transaction_id, script_id, false from change_links
       where change_script_id between ${scriptId} and ${scriptId}
         order by change_script_id desc, transaction_id desc limit ${MAX_CHANGE_SUGGESTIONS})
      order by transaction_id desc limit ${MAX_CHANGE_SUGGESTIONS}
    ) supposed
    join scripts s on s.id = supposed.other_id and s.address is not null
    join transactions t on t.id = supposed.transaction_id
    order by supposed.transaction_id desc`.execute(db);
  return rows;
}
