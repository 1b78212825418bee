/** Reads the effects of accepted and removed transactions on covenants. */
import { hex, jsonObject, text } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import type { ChangeRow } from './changes.ts';
import type { CovenantChangeJson } from './event-schemas.ts';

export type CovenantChange = Omit<CovenantChangeJson, 'status' | 'confirmations'>;

/**
 * Selects events by the ids of their covenants, or by the template that the covenant has after
 * them.
 */
export interface CovenantFilter {
  ids: readonly string[];
  templates: readonly string[];
}

/**
 * Selects the events of covenants. `covenant_events` has those of chain blocks, and each removed
 * chain block has what was deleted from there. The template of an event follows from the chain
 * below its block, so it is the same whenever the event is read.
 * @param ids null for all, like the templates
 */
export function selectCovenantChanges({
  ids,
  templates,
}: {
  [Name in keyof CovenantFilter]: RawBuilder<CovenantFilter[Name]>;
}): RawBuilder<ChangeRow<CovenantChange>> {
  const isWantedRow = sql`(${ids} is null
    or covenant_id in (
      select id from covenants
      where covenant_id in (select decode(id, 'hex') from unnest(${ids}) given (id)))
    or coalesce(template_id, previous_template_id) in (
      select id from program_templates
      where template in (select decode(id, 'hex') from unnest(${templates}) given (id))))`;
  const isWantedItem = sql`(${ids} is null
    or removed.event ->> 1 = any(${ids}) or removed.event ->> 3 = any(${templates}))`;
  const item = jsonObject<CovenantChange>({
    covenantId: sql`e.covenant_id`,
    transactionId: hex('t.transaction_id'),
    kind: sql`e.kind`,
    template: sql`e.template`,
    acceptingBlockHash: hex('source.hash'),
    acceptingBlockBlueScore: text('source.blue_score'),
  });
  return sql`
    select source.n, source.status, source.confirmations, source.position, e.transaction,
      e.covenant_id as name, ${item} as item
    from source
    cross join lateral (
      select added.position as transaction, added.transaction_id, added.kind::text as kind,
        encode(c.covenant_id, 'hex') as covenant_id, encode(p.template, 'hex') as template
      from (
        select *, ${isWantedRow} as is_wanted
        from covenant_events where chain_index = source.index offset 0) added
      cross join lateral (select covenant_id from covenants where id = added.covenant_id limit 1) c
      left join lateral (
        select template from program_templates
        where id = coalesce(added.template_id, added.previous_template_id) limit 1) p on true
      where added.is_wanted
      union all
      select removed.transaction, (removed.event ->> 0)::bigint, removed.event ->> 2,
        removed.event ->> 1, removed.event ->> 3
      from jsonb_array_elements(source.covenant_events) with ordinality removed (event, transaction)
      where ${isWantedItem}) e
    cross join lateral (
      select transaction_id from transactions where id = e.transaction_id limit 1) t`;
}
