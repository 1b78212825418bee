import { toHex } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import { getOrInsert } from '../state-changes.ts';
import type { Reveals } from '../reveals/reveals.ts';
import type { Reveal } from '../reveals/reveal.ts';
import { countTemplates } from './count-templates.ts';
import { TEMPLATE_BEFORE } from './rebuild.ts';

/**
 * Sets the templates of events whose transactions were accepted by earlier batches in a variant
 * that is known now, and of what follows: the covenant has that template until the next event that
 * reveals one. Anybody can make thousands of such events become known at once, so all of them are
 * settled together.
 */
export async function settleTemplates(client: ClientBase, reveals: Reveals): Promise<void> {
  if (reveals.settled.length === 0) return;
  const settled = new Set(reveals.settled.map(({ transaction }) => transaction));
  const last = new Map<number, Map<string, Reveal>>();
  for (const reveal of reveals.found) {
    if (!settled.has(reveal.transaction) || reveal.covenantId === undefined) continue;
    if (reveals.describe(reveal).template === undefined) continue;
    getOrInsert(last, reveal.transaction, () => new Map<string, Reveal>()).set(toHex(reveal.covenantId), reveal);
  }
  const found = [...last.values()].flatMap((ofTransaction) => [...ofTransaction.values()]);
  if (found.length === 0) return;
  await client.query({
    name: 'settle-covenant-templates',
    text: SETTLE,
    values: [
      found.map(({ covenantId }) => Buffer.from(covenantId ?? [])),
      found.map(({ transaction }) => transaction),
      found.map(({ chainBlock }) => chainBlock.index),
      found.map((reveal) => Buffer.from(reveals.describe(reveal).template ?? [])),
    ],
  });
}

/**
 * `later` has the events of each covenant from the first settled one on. Its first row keeps what
 * was before it.
 */
const SETTLE = `
  with settled_events as materialized (
    select e.covenant_id, e.chain_index, e.position, t.id as template_id
      from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bytea[]) settled (covenant_id,
        transaction_id, chain_index, template)
      join covenants c using (covenant_id)
      join covenant_events e on e.transaction_id = settled.transaction_id
        and e.chain_index = settled.chain_index and e.covenant_id = c.id
      join program_templates t using (template)),
  first as (select distinct on (covenant_id) * from settled_events
    order by covenant_id, chain_index, position),
  later as materialized (
    select e.covenant_id, e.chain_index, e.position, e.previous_template_id,
           coalesce(settled.template_id, e.template_id) as template_id
      from first
     cross join lateral (
       select * from covenant_events e
        where e.covenant_id = first.covenant_id
          and (e.chain_index, e.position) >= (first.chain_index, first.position) offset 0) e
      left join settled_events settled on settled.covenant_id = e.covenant_id
        and settled.chain_index = e.chain_index and settled.position = e.position),
  events as (
    select *, coalesce(${TEMPLATE_BEFORE},
      first_value(previous_template_id) over (partition by covenant_id
        order by chain_index, position)) as previous
      from later),
  changed as (
    update covenant_events e set template_id = events.template_id,
      previous_template_id = events.previous
      from events
     where e.covenant_id = events.covenant_id and e.chain_index = events.chain_index
       and e.position = events.position
       and (e.template_id, e.previous_template_id)
         is distinct from (events.template_id, events.previous)),
  last as (
    select distinct on (covenant_id) covenant_id, template_id from later
      where template_id is not null order by covenant_id, chain_index desc, position desc),
  current as (
    select c.id, c.template_id as before, last.template_id as after
      from last join covenants c on c.id = last.covenant_id
        where c.template_id is distinct from last.template_id),
  covenants_changed as (
    update covenants c set template_id = current.after from current where c.id = current.id)
  ${countTemplates('select after as id, 1 as change from current union all select before, -1 from current')}`;
