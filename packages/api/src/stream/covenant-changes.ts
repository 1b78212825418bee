/** Reads the effects of accepted and removed transactions on covenants. */
import { type RawBuilder, sql } from 'kysely';
import { jsonObject } from '../index-state/json.ts';
import { hex, text } from '../index-state/sql.ts';
import type { ChangeReader, Item } from './changes.ts';
import type { CovenantChangeJson } from './event-schemas.ts';

export type CovenantChange = Omit<CovenantChangeJson, 'status' | 'confirmations'>;

/** Selects events by the ids of their covenants, or by the template that the covenant has after them. */
export interface CovenantFilter {
  ids: readonly string[];
  templates: readonly string[];
}

/**
 * `covenant_events` has those of chain blocks, and each removed chain block has what was deleted from there. The template of an event follows from the
 * chain below its block, so it is the same whenever the event is read.
 */
export const covenantChanges = (wanted: CovenantFilter | 'all'): ChangeReader<CovenantChange> => ({
  selectAccepted: (source) =>
    selectEvents(sql`
      select source.place, source.hash, source.blue_score, e.position as n, t.transaction_id, e.kind::text as kind,
        encode(c.covenant_id, 'hex') as covenant_id, encode(p.template, 'hex') as template
      from (${source}) source
      cross join lateral (select *, ${isWantedRow(wanted)} as is_wanted from covenant_events where chain_index = source.place offset 0) e
      cross join lateral (select covenant_id from covenants where id = e.covenant_id limit 1) c
      cross join lateral (select transaction_id from transactions where id = e.transaction_id limit 1) t
      left join lateral (
        select template from program_templates where id = coalesce(e.template_id, e.previous_template_id) limit 1) p on true
      where e.is_wanted`),
  selectReverted: (source) =>
    selectEvents(sql`
      select source.place, source.hash, source.blue_score, e.n, t.transaction_id, e.event ->> 2 as kind, e.event ->> 1 as covenant_id,
        e.event ->> 3 as template
      from (${source}) source
      cross join lateral jsonb_array_elements(source.covenant_events) with ordinality e (event, n)
      cross join lateral (select transaction_id from transactions where id = (e.event ->> 0)::bigint limit 1) t
      where ${isWantedItem(wanted)}`),
});

const isWantedRow = (wanted: CovenantFilter | 'all'): RawBuilder<unknown> =>
  wanted === 'all'
    ? sql`true`
    : sql`(covenant_id in (select id from covenants where covenant_id in (select decode(id, 'hex') from unnest(${wanted.ids}::text[]) given (id)))
        or coalesce(template_id, previous_template_id) in (
          select id from program_templates where template in (select decode(id, 'hex') from unnest(${wanted.templates}::text[]) given (id))))`;

const isWantedItem = (wanted: CovenantFilter | 'all'): RawBuilder<unknown> =>
  wanted === 'all'
    ? sql`true`
    : sql`(e.event ->> 1 = any(${wanted.ids}::text[]) or e.event ->> 3 = any(${wanted.templates}::text[]))`;

function selectEvents(events: RawBuilder<unknown>): RawBuilder<Item<CovenantChange>> {
  const item = jsonObject<CovenantChange>({
    covenantId: sql`event.covenant_id`,
    transactionId: hex('event.transaction_id'),
    kind: sql`event.kind`,
    template: sql`event.template`,
    acceptingBlockHash: hex('event.hash'),
    acceptingBlockBlueScore: text('event.blue_score'),
  });
  return sql`select ${item} as item from (${events}) event order by event.place, event.n, event.covenant_id`;
}
