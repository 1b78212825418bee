/**
 * Who says what of an address (`attributions`, by source), and what follows from it: the tag of each address, the names of
 * clusters, the marks of scripts. All of it changes in one transaction, under the lock of the checkpoint that the indexer takes
 * before it writes balances and clusters: each sees what the other has done, whoever comes first.
 */
import { addressToScript } from '@kasgres/kaspa';
import type { ClientBase, Pool } from 'pg';
import { countTags, type Members, resolveClusterTags } from './cluster-tags.ts';
import { CopyBuffer, copyRows } from './copy.ts';
import { inTransaction } from './in-transaction.ts';
import type { OwnerTag, Tag } from './tags.ts';

/** What a source says of an address. */
export interface Attribution extends Tag {
  category: string | undefined;
  /** How the source knows, in its words. */
  confidence: string | undefined;
  /** The same from 0 to 100. */
  confidenceLevel: number;
  /** `2026-01-31` */
  lastModified: string | undefined;
}

/** All that a source says; no two of one address and name. */
export interface TagSource {
  name: string;
  title: string;
  creator: string;
  attributions: readonly Attribution[];
}

/** What became of a source's attributions. */
export interface SourceChanges {
  source: string;
  new: number;
  changed: number;
  removed: number;
  unchanged: number;
}

export interface ReplaceOptions {
  /** Finds out what would change, and changes nothing. */
  dryRun?: boolean;
  /** Hears what is being done, with how many rows, as it begins. */
  onProgress?: (step: string, rows: number) => void;
}

/** Confidence of who does not say how sure they are. */
export const DEFAULT_CONFIDENCE_LEVEL = 50;
/** The source of tags that were written one by one. */
const MANUAL_SOURCE = 'manual';
/** Of what is said (`a`) of an address by sources (`s`), the first is its tag. */
const PRECEDENCE = `a.confidence_level desc, a.last_modified desc nulls last, s.name collate "C", a.name collate "C"`;
const ROWS_PER_COPY = 20_000;
const SCRIPTS_PER_STATEMENT = 50_000;

/**
 * Puts what these sources say now in place of what they said before; a source that says nothing is gone. All of it, or nothing.
 * @throws AddressError
 */
export async function replaceSources(
  pool: Pool,
  sources: readonly TagSource[],
  options: ReplaceOptions = {},
): Promise<SourceChanges[]> {
  return await writeSources(pool, sources, 'everything they said before', options);
}

/**
 * Writes tags over what was said of their addresses in this way before, as the source `manual`; of two for one address the last one
 * holds. All of them, or none.
 * @throws AddressError
 */
export async function upsertTags(pool: Pool, tags: readonly Tag[]): Promise<void> {
  const attributions = [...new Map(tags.map((tag) => [tag.address, tag])).values()].map(toAttribution);
  const source = { name: MANUAL_SOURCE, title: 'Written one by one', creator: '', attributions };
  await writeSources(pool, [source], 'what they said of these addresses', {});
}

/** A tag of which nothing more is known. */
export function toAttribution(tag: Tag): Attribution {
  return {
    ...tag,
    category: undefined,
    confidence: undefined,
    confidenceLevel: DEFAULT_CONFIDENCE_LEVEL,
    lastModified: undefined,
  };
}

/** Undefined for a source that is not there. */
export async function removeSource(pool: Pool, name: string): Promise<SourceChanges | undefined> {
  const { rowCount } = await pool.query('select from tag_sources where name = $1', [name]);
  if (rowCount === 0) return undefined;
  const [changes] = await replaceSources(pool, [{ name, title: '', creator: '', attributions: [] }]);
  return changes;
}

export interface ListedSource {
  name: string;
  title: string;
  creator: string;
  /** How much it says. */
  tags: bigint;
  importedAt: Date;
}

export async function listSources(pool: Pool): Promise<ListedSource[]> {
  const { rows } = await pool.query<ListedSource>(
    `select name, title, creator, (select count(*) from attributions where source_id = s.id) as tags, imported_at as "importedAt"
       from tag_sources s order by name collate "C"`,
  );
  return rows;
}

export interface ListedAttribution extends OwnerTag {
  source: string;
  category: string | null;
  confidence: string | null;
  confidenceLevel: number;
  /** `2026-01-31` */
  lastModified: string | null;
}

/** What is said of an address, what holds first. */
export async function listAttributions(pool: Pool, address: string): Promise<ListedAttribution[]> {
  const { rows } = await pool.query<ListedAttribution>(
    `select s.name as source, a.name, a.link, a.labels, a.category, a.confidence, a.confidence_level as "confidenceLevel",
       a.last_modified as "lastModified"
       from attributions a join tag_sources s on s.id = a.source_id
      where a.address = $1
      order by ${PRECEDENCE}`,
    [address],
  );
  return rows;
}

type Replaced = 'everything they said before' | 'what they said of these addresses';

async function writeSources(
  pool: Pool,
  sources: readonly TagSource[],
  replaced: Replaced,
  { dryRun = false, onProgress = () => {} }: ReplaceOptions,
): Promise<SourceChanges[]> {
  const client = await pool.connect();
  const write = async (): Promise<SourceChanges[]> => {
    onProgress(
      'reading',
      sources.reduce((sum, { attributions }) => sum + attributions.length, 0),
    );
    await copySaid(client, sources);
    // The table, since before the first start of an index there is no row.
    await client.query('lock table checkpoint in exclusive mode');
    const changes = await writeAttributions(client, sources, replaced);
    await writeTags(client, onProgress);
    return changes;
  };
  try {
    return await inTransaction(client, write, { isDryRun: dryRun });
  } finally {
    client.release();
  }
}

/** What the sources say now, as a table. */
async function copySaid(client: ClientBase, sources: readonly TagSource[]): Promise<void> {
  await client.query(
    `create temp table said (
       source text not null, address text not null, name text not null, link text not null, labels text[] not null,
       category text, confidence text, confidence_level smallint not null, last_modified text
     ) on commit drop`,
  );
  const buffer = new CopyBuffer('said', [
    'source',
    'address',
    'name',
    'link',
    'labels',
    'category',
    'confidence',
    'confidence_level',
    'last_modified',
  ]);
  const optional = (text: string | undefined): void => (text === undefined ? buffer.null() : buffer.text(text));
  for (const source of sources) {
    for (const attribution of source.attributions) {
      buffer.row();
      buffer.text(source.name);
      buffer.text(attribution.address);
      buffer.text(attribution.name);
      buffer.text(attribution.link);
      buffer.texts(attribution.labels);
      optional(attribution.category);
      optional(attribution.confidence);
      buffer.smallint(attribution.confidenceLevel);
      optional(attribution.lastModified);
      if (buffer.rows < ROWS_PER_COPY) continue;
      await copyRows(client, buffer);
      buffer.clear();
    }
  }
  await copyRows(client, buffer);
  await client.query('analyze said');
}

/** Leaves the addresses of which something else is said now in the table `touched`. */
async function writeAttributions(
  client: ClientBase,
  sources: readonly TagSource[],
  replaced: Replaced,
): Promise<SourceChanges[]> {
  const names = sources.map(({ name }) => name);
  await client.query(
    `insert into tag_sources (name, title, creator)
     select * from unnest($1::text[], $2::text[], $3::text[])
     on conflict (name) do update set title = excluded.title, creator = excluded.creator, imported_at = excluded.imported_at`,
    [names, sources.map(({ title }) => title), sources.map(({ creator }) => creator)],
  );
  await client.query('create temp table touched (address text primary key) on commit drop');
  const isOfThese = replaced === 'everything they said before' ? '' : 'and a.address in (select address from said)';
  const removed = await countTouched(
    client,
    `delete from attributions a using tag_sources s
      where s.id = a.source_id and s.name = any($1::text[]) ${isOfThese}
        and not exists (select from said where source = s.name and said.address = a.address and said.name = a.name)
     returning a.source_id, a.address`,
    names,
  );
  const changed = await countTouched(
    client,
    `update attributions a
        set link = i.link, labels = i.labels, category = i.category, confidence = i.confidence,
            confidence_level = i.confidence_level, last_modified = i.last_modified::date
       from said i join tag_sources s on s.name = i.source
      where s.name = any($1::text[]) and a.source_id = s.id and a.address = i.address and a.name = i.name
        and (a.link, a.labels, a.category, a.confidence, a.confidence_level, a.last_modified)
          is distinct from (i.link, i.labels, i.category, i.confidence, i.confidence_level, i.last_modified::date)
     returning a.source_id, a.address`,
    names,
  );
  const added = await countTouched(
    client,
    `insert into attributions
     select s.id, i.address, i.name, i.link, i.labels, i.category, i.confidence, i.confidence_level, i.last_modified::date
       from said i join tag_sources s on s.name = i.source
      where s.name = any($1::text[])
     on conflict (source_id, address, name) do nothing
     returning source_id, address`,
    names,
  );
  await client.query(
    'delete from tag_sources s where name = any($1::text[]) and not exists (select from attributions where source_id = s.id)',
    [names],
  );
  return sources.map(({ name, attributions }) => {
    const counts = { new: added.get(name) ?? 0, changed: changed.get(name) ?? 0, removed: removed.get(name) ?? 0 };
    return { source: name, ...counts, unchanged: attributions.length - counts.new - counts.changed };
  });
}

/** Runs a statement that returns source_id and address of what it changed; notes the addresses, and counts by source. */
async function countTouched(
  client: ClientBase,
  statement: string,
  names: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await client.query<{ source: string; count: number }>(
    `with written as (${statement}),
       noted as (insert into touched select distinct address from written on conflict do nothing)
     select s.name as source, count(*)::integer as count from written join tag_sources s on s.id = source_id group by s.name`,
    [names],
  );
  return new Map(rows.map(({ source, count }) => [source, count]));
}

/**
 * The tag of each touched address: the first of what its sources say. Leaves those that differ from `tags` in the table `retagged`;
 * null is the name of what has none now.
 */
const CREATE_RETAGGED = `
  create temp table retagged on commit drop as
  with best as (
    select distinct on (a.address) a.address, a.name, a.link, a.labels, a.confidence_level
      from touched join attributions a using (address) join tag_sources s on s.id = a.source_id
     order by a.address, ${PRECEDENCE}
  )
  select address, best.name, best.link, best.labels, best.confidence_level
    from touched left join best using (address) left join tags t using (address)
   where (best.name, best.link, best.labels, best.confidence_level) is distinct from (t.name, t.link, t.labels, t.confidence_level)`;

/** Brings `tags` and all that follows from them up to what is said of the touched addresses. */
async function writeTags(client: ClientBase, onProgress: NonNullable<ReplaceOptions['onProgress']>): Promise<void> {
  await client.query('analyze touched');
  await client.query(CREATE_RETAGGED);
  const { rows } = await client.query<{ address: string }>('select address from retagged');
  onProgress('writing', rows.length);
  const scripts = await findScripts(
    client,
    rows.map(({ address }) => address),
  );
  const members = membersOf(scripts);
  await countTags(client, members, -1);
  await client.query('delete from tags where address in (select address from retagged where name is null)');
  await client.query(
    `insert into tags (address, name, link, labels, confidence_level)
     select address, name, link, labels, confidence_level from retagged where name is not null
     on conflict (address) do update
       set name = excluded.name, link = excluded.link, labels = excluded.labels, confidence_level = excluded.confidence_level`,
  );
  await countTags(client, members, 1);
  await resolveClusterTags(client, members.clusterIds);
  await client.query(
    `update balances b set is_tagged = not b.is_tagged
       from unnest($1::bigint[], $2::bigint[]) r (script_id, cluster_id)
       join scripts s on s.id = r.script_id
      where b.script_id = r.script_id
        and b.is_tagged is distinct from (
          exists (select from tags t where t.address = s.address)
          or exists (select from clusters c where c.id = r.cluster_id and c.name is not null))`,
    [scripts.map(({ script_id }) => script_id), scripts.map(({ cluster_id }) => cluster_id)],
  );
}

interface FoundScript {
  address: string;
  script_id: bigint;
  /** Null for one that stands alone. */
  cluster_id: bigint | null;
}

/** The scripts of addresses, those of them that are in the index. Scripts are found by their bytes: addresses have no index. */
export async function findScripts(client: ClientBase, addresses: readonly string[]): Promise<FoundScript[]> {
  const found: FoundScript[] = [];
  for (let start = 0; start < addresses.length; start += SCRIPTS_PER_STATEMENT) {
    const some = addresses.slice(start, start + SCRIPTS_PER_STATEMENT);
    const { rows } = await client.query<FoundScript>(
      // What cluster_of does, for all of them at once.
      `with recursive up as (
         select s.address, s.id, m.script_id as root_id, m.parent_id
           from unnest($1::bytea[], $2::text[]) given (script, address)
           join scripts s on s.script = given.script and s.address = given.address
           left join cluster_members m on m.script_id = s.id
         union all
         select up.address, up.id, m.script_id, m.parent_id from up join cluster_members m on m.script_id = up.parent_id
       )
       select address, id as script_id, root_id as cluster_id from up where parent_id is null`,
      [some.map((address) => Buffer.from(addressToScript(address).script)), some],
    );
    found.push(...rows);
  }
  return found;
}

function membersOf(scripts: readonly FoundScript[]): Members {
  const members = scripts.flatMap(({ script_id, cluster_id }) =>
    cluster_id === null ? [] : [{ script_id, cluster_id }],
  );
  return {
    scriptIds: members.map(({ script_id }) => script_id),
    clusterIds: members.map(({ cluster_id }) => cluster_id),
  };
}
