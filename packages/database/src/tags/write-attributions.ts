/** Compares new attributions with the stored ones in one query, and writes only the differences. */
import { decodeAddress } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import { copyRows } from '../copy/copy-buffer.ts';
import { boolean, defineTemporaryCopyTable, nullable, smallint, text, texts } from '../copy/define-copy-table.ts';
import type { SourceChanges, TagSource } from './attribution.ts';

const ROWS_PER_COPY = 20_000;

const SAID = defineTemporaryCopyTable('said', {
  source: text,
  address: text,
  name: text,
  link: text,
  labels: texts,
  category: nullable(text),
  confidence: nullable(text),
  confidence_level: smallint,
  last_modified: nullable(text),
  actor: text,
  names_cluster: boolean,
});

/**
 * Copies the attributions of the sources to the temporary table `said`.
 * @throws AddressError
 */
export async function copyAttributions(client: ClientBase, sources: readonly TagSource[]): Promise<void> {
  await client.query(
    `create temp table said (
       source text not null, address text not null, name text not null, link text not null,
       labels text[] not null, category text, confidence text, confidence_level smallint not null,
       last_modified text, actor text not null, names_cluster boolean not null
     ) on commit drop`,
  );
  const buffer = SAID.createBuffer();
  for (const source of sources) {
    for (const attribution of source.attributions) {
      decodeAddress(attribution.address);
      buffer.write({
        source: source.name,
        address: attribution.address,
        name: attribution.name,
        link: attribution.link,
        labels: attribution.labels,
        category: attribution.category,
        confidence: attribution.confidence,
        confidence_level: attribution.confidenceLevel,
        last_modified: attribution.lastModified,
        actor: attribution.actor ?? '',
        names_cluster: attribution.namesCluster ?? true,
      });
      if (buffer.rows < ROWS_PER_COPY) continue;
      await copyRows(client, buffer);
      buffer.clear();
    }
  }
  await copyRows(client, buffer);
  await client.query('analyze said');
}

/**
 * Writes the differences to the temporary table `changes`.
 * @param replacesAll all attributions of the sources, not only those of the new addresses
 */
export async function findChanges(
  client: ClientBase,
  sources: readonly TagSource[],
  replacesAll: boolean,
): Promise<SourceChanges[]> {
  // A full join is never a nested loop, even if the statistics of `attributions` are outdated.
  await client.query(
    `create temp table changes on commit drop as
     select source, address, name, i.link, i.labels, i.category, i.confidence, i.confidence_level,
            i.last_modified::date, i.actor, i.names_cluster,
            case when before.link is null then 'new' when i.link is null then 'removed'
              else 'changed' end as change
       from said i
       full join (
         select s.name as source, a.address, a.name, a.link, a.labels, a.category, a.confidence,
                a.confidence_level, a.last_modified, a.actor, a.names_cluster
           from attributions a join tag_sources s on s.id = a.source_id
          where s.name = any($1::text[]) and ($2 or a.address in (select address from said))
       ) before using (source, address, name)
      where (i.link, i.labels, i.category, i.confidence, i.confidence_level, i.last_modified::date,
        i.actor, i.names_cluster) is distinct from
            (before.link, before.labels, before.category, before.confidence,
             before.confidence_level, before.last_modified, before.actor, before.names_cluster)`,
    [sources.map(({ name }) => name), replacesAll],
  );
  await client.query('analyze changes');
  const { rows } = await client.query<{ source: string; change: 'new' | 'changed' | 'removed'; count: number }>(
    'select source, change, count(*)::integer as count from changes group by source, change',
  );
  return sources.map(({ name, attributions }) => {
    const countOf = (change: string): number =>
      rows.find((row) => row.source === name && row.change === change)?.count ?? 0;
    const counts = { new: countOf('new'), changed: countOf('changed'), removed: countOf('removed') };
    return { source: name, ...counts, unchanged: attributions.length - counts.new - counts.changed };
  });
}

/** Writes the sources and the table `changes`. A source without attributions is deleted. */
export async function writeAttributions(client: ClientBase, sources: readonly TagSource[]): Promise<void> {
  const names = sources.map(({ name }) => name);
  await client.query(
    `insert into tag_sources (name, title, creator)
     select * from unnest($1::text[], $2::text[], $3::text[])
     on conflict (name) do update
       set title = excluded.title, creator = excluded.creator, imported_at = excluded.imported_at`,
    [names, sources.map(({ title }) => title), sources.map(({ creator }) => creator)],
  );
  await client.query(
    `delete from attributions a using changes c join tag_sources s on s.name = c.source
      where c.change = 'removed' and a.source_id = s.id and a.address = c.address
        and a.name = c.name`,
  );
  await client.query(
    `update attributions a
        set link = c.link, labels = c.labels, category = c.category, confidence = c.confidence,
            confidence_level = c.confidence_level, last_modified = c.last_modified,
            actor = c.actor, names_cluster = c.names_cluster
       from changes c join tag_sources s on s.name = c.source
      where c.change = 'changed' and a.source_id = s.id and a.address = c.address
        and a.name = c.name`,
  );
  // In index order each page is written once.
  await client.query(
    `insert into attributions
     select s.id, c.address, c.name, c.link, c.labels, c.category, c.confidence, c.confidence_level,
            c.last_modified, c.actor, c.names_cluster
       from changes c join tag_sources s on s.name = c.source
      where c.change = 'new'
      order by c.address`,
  );
  await client.query(
    'delete from tag_sources s where name = any($1::text[]) and not exists (select from attributions where source_id = s.id)',
    [names],
  );
}
