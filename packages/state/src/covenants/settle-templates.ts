import { toHex } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import { getOrInsert } from '../state-changes.ts';
import type { Reveals } from '../reveals/reveals.ts';
import type { Reveal } from '../reveals/reveal.ts';
import { countTemplates } from './count-templates.ts';

/**
 * Sets the templates of events whose transactions were accepted by earlier batches in a variant that is known now, and of what follows: the
 * covenant has that template until the next event that reveals one.
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
  // One after the other, since each may change what another one has set.
  for (const reveal of found) await settleTemplate(client, reveal, reveals);
}

async function settleTemplate(client: ClientBase, reveal: Reveal, reveals: Reveals): Promise<void> {
  const { template } = reveals.describe(reveal);
  if (reveal.covenantId === undefined || template === undefined) return;
  await client.query({
    name: 'settle-covenant-template',
    text: `with event as (
             select e.*, c.template_id as current, t.id as settled
               from covenants c
               join covenant_events e on e.covenant_id = c.id and e.transaction_id = $2
               join program_templates t on t.template = $3
              where c.covenant_id = $1),
           next as (
             select e.chain_index, e.position
               from event join covenant_events e on e.covenant_id = event.covenant_id
              where (e.chain_index, e.position) > (event.chain_index, event.position) and e.template_id is not null
              order by e.chain_index, e.position limit 1),
           events as (
             update covenant_events e set
                    template_id = case when e.transaction_id = $2 then event.settled else e.template_id end,
                    previous_template_id = case when e.transaction_id = $2 then e.previous_template_id else event.settled end
               from event
              where e.covenant_id = event.covenant_id and (e.chain_index, e.position) >= (event.chain_index, event.position)
                and (not exists (select from next) or (e.chain_index, e.position) <= (select chain_index, position from next))),
           current as (
             update covenants c set template_id = event.settled from event where c.id = event.covenant_id and not exists (select from next))
           ${countTemplates(`
             select settled as id, 1 as change from event where not exists (select from next)
             union all select current, -1 from event where not exists (select from next)`)}`,
    values: [Buffer.from(reveal.covenantId), reveal.transaction, Buffer.from(template)],
  });
}
