/**
 * Covenants and their events. A covenant's row is what its events leave; each event keeps what the
 * row was before, so that a reorg restores it without a search, and also where retention has
 * removed the events before.
 */
import { copyRows, COVENANT_EVENTS, inPipeline } from '@kasgres/database';
import { type Hash, toHex } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { DerivedState } from '../derived-state.ts';
import { ProgramChanges } from '../programs/program-changes.ts';
import { columnsOf } from '../queryable.ts';
import { Reveals } from '../reveals/reveals.ts';
import { MarkedSpends } from '../utxos/marked-spends.ts';
import { countTemplates } from './count-templates.ts';
import {
  type CovenantAddition,
  CovenantChanges,
  type CovenantRemoval,
  type EventHour,
  eventHours,
  type RemovedEvent,
} from './covenant-changes.ts';
import { rebuildCovenants } from './rebuild.ts';
import { settleTemplates } from './settle-templates.ts';
import { verifyCovenants, verifyCurrentCovenants } from './verify.ts';

export const covenants: DerivedState = {
  tables: {
    emptied: ['covenants', 'covenant_events', 'covenant_hours'],
    deferredIndexes: [
      'covenant_events_covenant_id',
      'covenant_events_chain_index',
      'covenant_events_transaction_id',
      'covenants_covenant_id',
      'covenants_covenant_id_text',
      'covenants_first_seen',
      'covenants_last_seen',
      'covenants_template_id',
    ],
  },
  applies: 'after reads',
  verify: { 4: verifyCovenants, current: verifyCurrentCovenants },

  collect(item, changes) {
    if (item.kind === 'accepted') changes.of(CovenantChanges).addOutputs(item.transaction);
  },

  async revert(client, { blocks }, changes) {
    const { rows } = await client.query<RemovedEvent>({
      name: 'remove-covenant-events',
      text: `with removed as (delete from covenant_events where chain_index >= $1 returning *)
             select c.covenant_id as "covenantId", b.chain_time as "chainTime", r.kind,
                    r.previous_seen as "previousSeen", r.previous_template_id as "previousTemplate"
               from removed r join covenants c on c.id = r.covenant_id
                 join chain_blocks b on b.index = r.chain_index
              order by r.chain_index, r.position`,
      values: [blocks[0]?.chainBlock.index],
    });
    changes.of(CovenantChanges).removedEvents = rows;
  },

  async apply(client, changes) {
    const covenantChanges = changes.of(CovenantChanges);
    const marked = changes.of(MarkedSpends);
    const reveals = changes.of(Reveals);
    const additions = covenantChanges.additions(await marked.find(), reveals);
    const { removedEvents } = covenantChanges;
    if (additions.length === 0 && removedEvents.length === 0 && reveals.settled.length === 0) return;
    // Templates get their keys there.
    await changes.of(ProgramChanges).applied;
    await inPipeline(client, [
      () => removeEvents(client, covenantChanges.removals(marked)),
      () => settleTemplates(client, reveals),
      () => addEvents(client, additions),
      () => writeHours(client, eventHours(additions, removedEvents)),
    ]);
  },

  rebuild: { fromRows: rebuildCovenants },
};

/** Takes the events back from the rows of covenants, and deletes those that began with them. */
async function removeEvents(client: ClientBase, removals: readonly CovenantRemoval[]): Promise<void> {
  if (removals.length === 0) return;
  const [events, balances, utxoCounts, previousSeen, previousTemplates] = columnsOf(
    removals,
    'eventCount',
    'balance',
    'utxoCount',
    'previousSeen',
    'previousTemplate',
  );
  await client.query({
    name: 'remove-events-from-covenants',
    text: `with removal as (
             select c.id, c.template_id as template, r.*
               from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::integer[],
                 $5::bigint[], $6::bigint[])
                    r (covenant_id, events, balance, utxos, previous_seen, previous_template)
               join covenants c using (covenant_id)),
           gone as (delete from covenants c using removal r
             where c.id = r.id and r.previous_seen is null),
           restored as (
             update covenants c set event_count = c.event_count - r.events,
                    balance = c.balance + r.balance, utxo_count = c.utxo_count + r.utxos,
                    last_seen = r.previous_seen, template_id = r.previous_template
               from removal r where c.id = r.id and r.previous_seen is not null)
           ${countTemplates(`select template as id, -1 as change from removal
             union all select previous_template, 1 from removal`)}`,
    values: [
      removals.map(({ covenantId }) => Buffer.from(covenantId)),
      events,
      balances,
      utxoCounts,
      previousSeen,
      previousTemplates,
    ],
  });
}

interface Written {
  id: number;
  covenantId: Buffer;
  previousSeen: bigint | null;
  previousTemplate: bigint | null;
}

async function addEvents(client: ClientBase, additions: readonly CovenantAddition[]): Promise<void> {
  if (additions.length === 0) return;
  const [written, templates] = await inPipeline(client, [
    () => writeCovenants(client, additions),
    () => readTemplates(client, additions),
  ]);
  const byName = new Map(written.map((row) => [toHex(row.covenantId), row]));
  const rows = COVENANT_EVENTS.createBuffer();
  for (const { covenantId, events } of additions) {
    const covenant = byName.get(toHex(covenantId));
    if (covenant === undefined) continue;
    let { previousSeen, previousTemplate } = covenant;
    for (const { chainBlock, transaction, position, kind, template } of events) {
      const revealed = template === undefined ? undefined : templates.get(toHex(template));
      rows.write({
        covenant_id: covenant.id,
        chain_index: chainBlock.index,
        transaction_id: transaction,
        previous_seen: previousSeen,
        position,
        kind,
        template_id: revealed,
        previous_template_id: previousTemplate,
      });
      previousSeen = chainBlock.chainTime;
      previousTemplate = revealed ?? previousTemplate;
    }
  }
  await copyRows(client, rows);
}

async function writeCovenants(client: ClientBase, additions: readonly CovenantAddition[]): Promise<Written[]> {
  const { rows } = await client.query<Written>({
    name: 'write-covenants',
    text: `with added as (
             select a.*, t.id as template_id, c.last_seen as previous_seen,
               c.template_id as previous_template
               from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::integer[], $5::bigint[],
                 $6::bigint[], $7::bigint[], $8::bytea[])
                    a (covenant_id, events, balance, utxos, first_seen, last_seen,
                      genesis_id, template)
               left join program_templates t using (template)
               left join covenants c using (covenant_id)),
           written as (
             insert into covenants (genesis_transaction_id, event_count, balance, first_seen,
               last_seen, utxo_count, template_id, is_complete, covenant_id)
             select genesis_id, events, balance, first_seen, last_seen, utxos, template_id,
               genesis_id is not null, covenant_id from added
             on conflict (covenant_id) do update set
               event_count = covenants.event_count + excluded.event_count,
               balance = covenants.balance + excluded.balance,
               utxo_count = covenants.utxo_count + excluded.utxo_count,
               last_seen = excluded.last_seen,
               template_id = coalesce(excluded.template_id, covenants.template_id)
             returning id, covenant_id, template_id),
           counted as (${countTemplates(`
             select template_id as id, 1 as change from written
               union all select previous_template, -1 from added`)})
           select written.id::float8 as id, written.covenant_id as "covenantId",
                  added.previous_seen as "previousSeen",
                  added.previous_template as "previousTemplate"
             from written join added using (covenant_id)`,
    values: [
      additions.map(({ covenantId }) => Buffer.from(covenantId)),
      additions.map(({ events }) => events.length),
      additions.map(({ balance }) => balance),
      additions.map(({ utxoCount }) => utxoCount),
      additions.map(({ events }) => events.at(0)?.chainBlock.chainTime),
      additions.map(({ events }) => events.at(-1)?.chainBlock.chainTime),
      additions.map(({ events: [first] }) => (first?.kind === 'genesis' ? first.transaction : null)),
      additions.map(({ events }) => toBuffer(events.findLast(({ template }) => template !== undefined)?.template)),
    ],
  });
  return rows;
}

async function readTemplates(client: ClientBase, additions: readonly CovenantAddition[]): Promise<Map<string, bigint>> {
  const templates = new Map<string, Buffer>();
  for (const { events } of additions) {
    for (const { template } of events)
      if (template !== undefined) templates.set(toHex(template), Buffer.from(template));
  }
  if (templates.size === 0) return new Map();
  const { rows } = await client.query<{ id: bigint; template: Buffer }>({
    name: 'read-templates',
    text: 'select id, template from program_templates where template = any($1::bytea[])',
    values: [[...templates.values()]],
  });
  return new Map(rows.map(({ id, template }) => [toHex(template), id]));
}

async function writeHours(client: ClientBase, hours: readonly EventHour[]): Promise<void> {
  if (hours.length === 0) return;
  await client.query({
    name: 'write-covenant-hours',
    text: `insert into covenant_hours (hour, kind, events)
           select * from unnest($1::integer[], $2::covenant_event_kind[], $3::bigint[])
           on conflict (hour, kind) do update set events = covenant_hours.events + excluded.events`,
    values: columnsOf(hours, 'hour', 'kind', 'events'),
  });
}

function toBuffer(hash: Hash | undefined): Buffer | null {
  return hash === undefined ? null : Buffer.from(hash);
}
