/**
 * The files of names of templates that were imported. An import replaces what the same source gave
 * before, in one transaction.
 */
import type { Hash } from '@kasgres/kaspa';
import type { Pool } from 'pg';
import { inTransaction } from '../connection/in-transaction.ts';

export interface TemplateSource {
  name: string;
  /** SHA-256 of the file, hex. */
  checksum: string;
  entries: readonly TemplateNameRow[];
}

interface TemplateNameRow {
  template: Hash;
  /** Its entry in the file, as JSON. */
  entry: object;
}

/**
 * Numbers of names, compared with the previous import. An entry that changed is a new one and a
 * removed one.
 */
export interface TemplateSourceChanges {
  new: number;
  removed: number;
  unchanged: number;
}

/** Replaces all names of the source. A source without names is deleted. */
export async function replaceTemplateSource(
  pool: Pool,
  { name, checksum, entries }: TemplateSource,
): Promise<TemplateSourceChanges> {
  const client = await pool.connect();
  try {
    return await inTransaction(client, async () => {
      const { rows: sources } = await client.query<{ id: bigint }>(
        `insert into template_sources (name, checksum) values ($1, $2)
         on conflict (name) do update set checksum = excluded.checksum, imported_at = now()
           returning id`,
        [name, checksum],
      );
      const sourceId = sources[0]?.id;
      const { rows } = await client.query<{ new: number; removed: number }>(REPLACE_NAMES, [
        sourceId,
        entries.map(({ template }) => template),
        entries.map(({ entry }) => JSON.stringify(entry)),
      ]);
      if (entries.length === 0) await client.query('delete from template_sources where id = $1', [sourceId]);
      const changes = rows[0] ?? { new: 0, removed: 0 };
      return { ...changes, unchanged: entries.length - changes.new };
    });
  } finally {
    client.release();
  }
}

const REPLACE_NAMES = `
  with given as (
    select distinct template, entry::jsonb as entry
      from unnest($2::bytea[], $3::text[]) as given (template, entry)
  ), kept as (
    select template, entry from template_names where source_id = $1 intersect select template, entry
      from given
  ), removed as (
    delete from template_names n
     where source_id = $1 and not exists (select from kept k
       where k.template = n.template and k.entry = n.entry) returning 1
  ), added as (
    insert into template_names (source_id, template, entry)
    select $1, template, entry
      from (select template, entry from given except select template, entry from kept) new
        returning 1
  )
  select (select count(*) from added)::int as new, (select count(*) from removed)::int as removed`;

export interface ListedTemplateSource {
  name: string;
  checksum: string;
  names: bigint;
  importedAt: Date;
}

export async function listTemplateSources(pool: Pool): Promise<ListedTemplateSource[]> {
  const { rows } = await pool.query<ListedTemplateSource>(
    `select name, checksum, (select count(*) from template_names where source_id = s.id) as names,
      imported_at as "importedAt"
       from template_sources s order by name collate "C"`,
  );
  return rows;
}
