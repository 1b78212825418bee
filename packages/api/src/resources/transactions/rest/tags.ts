/** Tags of the addresses within transactions, for `include=tags`. */
import { addressTag, type AddressTagJson } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { rowsOf } from '../../../pages/key-page.ts';
import { tagOfScript } from '../../addresses/tags.ts';

export const includeTags = z
  .enum(['tags'])
  .optional()
  .meta({ description: '`tags` adds the tags of all addresses in the response' });

export const tagsByAddress = z.record(z.string(), addressTag).meta({
  description:
    'Tags of addresses in the response, by address, with `include=tags`: those of the address, else of its cluster',
});

/** Selects the tags of scripts, by address. @param scriptIds selects `script_id`, each once */
export const tagsOfScripts = (scriptIds: RawBuilder<unknown>): RawBuilder<Record<string, AddressTagJson>> => sql`(
  select coalesce(json_object_agg(touched.address,
    touched.tag) filter (where touched.tag is not null), '{}')
  from (
    select scripts.address, ${tagOfScript(sql`scripts.address`, sql`scripts.id`)} as tag
    from unnest(${rowsOf(scriptIds)}) within (script_id)
    join scripts on scripts.id = within.script_id and scripts.address is not null
  ) touched)`;

/** Selects the tags of the addresses of transactions. @param items limits the rows of `page` */
export const tagsOfPage = (items: RawBuilder<unknown> = sql``): RawBuilder<Record<string, AddressTagJson>> =>
  tagsOfScripts(sql`
    select distinct script_deltas.script_id
    from (select page.key from page ${items}) listed
      join script_deltas on script_deltas.transaction_id = listed.key`);
