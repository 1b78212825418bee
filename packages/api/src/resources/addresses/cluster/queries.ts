/** Queries of clusters (migrations/0005_clusters.sql): the cost of each depends on its result, not on the size of the cluster. */
import { sql } from 'kysely';
import type { Db } from '../../../index-state/sql.ts';
import type { Slice } from '../../../pages/read-page.ts';
import type { Member } from './find-links.ts';
import { MAX_ATTRIBUTIONS, MAX_CHANGE_SUGGESTIONS, MAX_NAMES, MAX_TAGS_OF_NAME } from './schemas.ts';

export interface ClusterRow {
  id: bigint;
  /** Address of the root member. */
  address: string;
  size: bigint;
  balance: bigint;
  name: string | null;
  link: string;
  labels: string[];
}

export async function findCluster(db: Db, scriptId: bigint): Promise<ClusterRow | undefined> {
  const { rows } = await sql<ClusterRow>`
    select c.id, s.address, c.size, c.balance, c.name, c.link, c.labels
    from clusters c join scripts s on s.id = c.id
    where c.id = cluster_of(${scriptId})`.execute(db);
  return rows[0];
}

export interface ClusteredTo {
  hash: string;
  blueScore: string;
  daaScore: string;
}

export async function findClusteredTo(db: Db): Promise<ClusteredTo | undefined> {
  const { rows } = await sql<ClusteredTo>`
    select encode(b.hash, 'hex') as hash, b.blue_score::text as "blueScore", b.daa_score::text as "daaScore"
    from clustering join blocks b on b.id = clustering.block_id`.execute(db);
  return rows[0];
}

export async function isMember(db: Db, scriptId: bigint, clusterId: bigint): Promise<boolean> {
  const { rows } = await sql<{ root: bigint | null }>`select cluster_of(${scriptId}) as root`.execute(db);
  return rows[0]?.root === clusterId;
}

export interface MemberRow {
  address: string;
  balance: bigint;
  /** Null without a tag of the address itself, as are the next two. */
  name: string | null;
  link: string | null;
  labels: string[] | null;
  automatic_labels: string[];
}

/** Lists the members that follow `from` in the ring (or precede it, if backward), up to the root. */
export async function listMembers(
  db: Db,
  clusterId: bigint,
  { from, isBackward, limit }: Slice<bigint>,
): Promise<MemberRow[]> {
  const step = isBackward ? sql`previous_id` : sql`next_id`;
  const isLast = isBackward ? sql`walk.script_id = ${clusterId}` : sql`walk.step_id = ${clusterId}`;
  const { rows } = await sql<MemberRow>`
    with recursive walk (script_id, step_id, position) as (
      select script_id, ${step}, ${from === undefined ? 1 : 0}::integer
      from cluster_members where script_id = ${from ?? clusterId}
      union all
      select m.script_id, m.${step}, walk.position + 1
      from walk join cluster_members m on m.script_id = walk.step_id
      where not ${isLast} and walk.position < ${limit}
    )
    select s.address, coalesce(b.balance, 0) as balance, t.name, t.link, t.labels, automatic_labels(walk.script_id) as automatic_labels
    from walk
    join scripts s on s.id = walk.script_id
    left join balances b on b.script_id = walk.script_id
    left join tags t on t.address = s.address
    where walk.position > 0
    order by walk.position`.execute(db);
  return rows;
}

/** Returns an address without a cluster as the only member of one. */
export async function getUnclustered(db: Db, address: string, scriptId: bigint | undefined): Promise<MemberRow> {
  const { rows } = await sql<MemberRow>`
    select one.address, coalesce(b.balance, 0) as balance, t.name, t.link, t.labels,
      coalesce(automatic_labels(one.script_id), '{}') as automatic_labels
    from (select ${address}::text as address, ${scriptId ?? null}::bigint as script_id) one
    left join balances b on b.script_id = one.script_id
    left join tags t on t.address = one.address`.execute(db);
  return rows[0] as MemberRow;
}

export interface NameRow {
  name: string;
  addresses: bigint;
}

/** Lists the most frequent names first. Considers the first thousand names, which bounds the cost. */
export async function listNames(db: Db, clusterId: bigint): Promise<NameRow[]> {
  const { rows } = await sql<NameRow>`
    select name, addresses
    from (select name, addresses from cluster_names where cluster_id = ${clusterId} order by name limit 1000) names
    order by addresses desc, name collate "C" limit ${MAX_NAMES}`.execute(db);
  return rows;
}

export interface NamedAddress {
  name: string;
  address: string;
}

/** Lists the members among the first addresses that have each of these names. */
export async function listNamedMembers(db: Db, clusterId: bigint, names: readonly string[]): Promise<NamedAddress[]> {
  const { rows } = await sql<NamedAddress>`
    select named.name, tagged.address
    from unnest(${names}::text[]) as named (name)
    cross join lateral (
      select address from tags where tags.name collate "C" = named.name
      order by tags.name collate "C", tags.address collate "C" limit ${MAX_TAGS_OF_NAME}
    ) tagged
    join scripts s on s.address = tagged.address
    where cluster_of(s.id) = ${clusterId}`.execute(db);
  return rows;
}

export interface AttributionRow {
  /** Name in the tag of the addresses. */
  tag_name: string;
  source: string;
  creator: string;
  name: string;
  link: string;
  labels: string[];
  category: string | null;
  confidence: string | null;
  confidence_level: number;
  addresses: bigint;
}

/** Lists the attributions of addresses by the name in their tag, the most frequent first. */
export async function listAttributions(db: Db, named: readonly NamedAddress[]): Promise<AttributionRow[]> {
  const { rows } = await sql<AttributionRow>`
    select tag_name, source, creator, name, link, labels, category, confidence, confidence_level, addresses
    from (
      select counted.*, row_number() over (partition by tag_name
        order by addresses desc, confidence_level desc, source collate "C", name collate "C", link collate "C", labels,
          category collate "C", confidence collate "C") as position
      from (
        select named.name as tag_name, src.name as source, src.creator, a.name, a.link, a.labels, a.category, a.confidence,
          a.confidence_level, count(*) as addresses
        from unnest(${named.map(({ name }) => name)}::text[], ${named.map(({ address }) => address)}::text[]) named (name, address)
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

interface ForestRow {
  script_id: bigint;
  parent_id: bigint | null;
  merge_id: bigint | null;
  transaction_id: bigint | null;
  merge_script_id: bigint | null;
  merged_script_id: bigint | null;
}

/** Loads members, and those that their merges and parents lead to, nearest first, so that few statements cover a long path. */
export async function loadMembers(db: Db, scriptIds: readonly bigint[]): Promise<Member[]> {
  const { rows } = await sql<ForestRow>`
    with recursive met (script_id) as (
      select unnest(${scriptIds}::bigint[])
      union
      select leads.script_id
      from met
      join cluster_members m on m.script_id = met.script_id
      left join cluster_merges g on g.id = m.merge_id
      cross join lateral (values (m.parent_id), (g.script_id), (g.merged_script_id)) leads (script_id)
      where leads.script_id is not null
    )
    select m.script_id, m.parent_id, g.id as merge_id, g.transaction_id, g.script_id as merge_script_id, g.merged_script_id
    from (select script_id from met limit ${scriptIds.length + MEMBERS_PER_LOAD}) nearest
    join cluster_members m on m.script_id = nearest.script_id
    left join cluster_merges g on g.id = m.merge_id`.execute(db);
  return rows.map(toMember);
}

function toMember(row: ForestRow): Member {
  const {
    merge_id: id,
    transaction_id: transactionId,
    merge_script_id: scriptId,
    merged_script_id: mergedScriptId,
  } = row;
  const isMerged = id !== null && transactionId !== null && scriptId !== null && mergedScriptId !== null;
  return {
    scriptId: row.script_id,
    parentId: row.parent_id,
    merge: isMerged ? { id, transactionId, scriptId, mergedScriptId } : null,
  };
}

/** Returns addresses by the keys of their scripts. */
export async function listAddressesOf(db: Db, scriptIds: readonly bigint[]): Promise<Map<bigint, string>> {
  const { rows } = await sql<{ id: bigint; address: string }>`
    select id, address from scripts where id = any(${scriptIds}::bigint[])`.execute(db);
  return new Map(rows.map(({ id, address }) => [id, address]));
}

/** Returns ids of transactions by their keys. */
export async function listIdsOf(db: Db, transactionIds: readonly bigint[]): Promise<Map<bigint, string>> {
  const { rows } = await sql<{ id: bigint; transaction_id: string }>`
    select id, encode(transaction_id, 'hex') as transaction_id from transactions
    where id = any(${transactionIds}::bigint[])`.execute(db);
  return new Map(rows.map(({ id, transaction_id }) => [id, transaction_id]));
}

export interface ChangeLinkRow {
  transactionId: string;
  address: string;
  isChange: boolean;
}

/**
 * Lists the newest transactions in which the script is the assumed sender or change. The conditions are ranges, not equalities, so that only one
 * index has the order: for a script with most of the links, Postgres would otherwise scan those of others.
 */
export async function listChangeLinks(db: Db, scriptId: bigint): Promise<ChangeLinkRow[]> {
  const { rows } = await sql<ChangeLinkRow>`
    select encode(t.transaction_id, 'hex') as "transactionId", s.address, supposed.is_change as "isChange"
    from (
      (select transaction_id, change_script_id as other_id, true as is_change from change_links
       where script_id between ${scriptId} and ${scriptId} order by script_id desc, transaction_id desc limit ${MAX_CHANGE_SUGGESTIONS})
      union all
      (select transaction_id, script_id, false from change_links
       where change_script_id between ${scriptId} and ${scriptId} order by change_script_id desc, transaction_id desc limit ${MAX_CHANGE_SUGGESTIONS})
      order by transaction_id desc limit ${MAX_CHANGE_SUGGESTIONS}
    ) supposed
    join scripts s on s.id = supposed.other_id and s.address is not null
    join transactions t on t.id = supposed.transaction_id
    order by supposed.transaction_id desc`.execute(db);
  return rows;
}
