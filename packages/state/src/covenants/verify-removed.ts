/**
 * Checks what removed chain blocks keep of their covenant events: the same transactions, covenants
 * and kinds as their transactions give. A template is checked where the transaction itself reveals
 * it and has one variant; elsewhere it depends on a branch that is gone.
 */
import { toHex } from '@kasgres/kaspa';
import { describeProgram, revealedProgram } from '@kasgres/programs';
import { columnsOf, faultsOf, type Queryable } from '../queryable.ts';

const MAX_FAULTS = 20;

/** The output that an input spends. It may be that of a UTXO set. */
const SPENT = `
  left join transaction_outputs o
    on o.transaction_id = i.previous_transaction_id and o.index = i.previous_index
      and o.index >> 4 = i.previous_index >> 4
  left join bootstrap_utxos u on u.transaction_id = i.previous_transaction_id
    and u.index = i.previous_index`;

/**
 * Rows that a first catch-up writes have no events, and neither have those of blocks without any. A
 * block of a branch from below a bootstrap block may spend outputs that are no longer known, and
 * then their covenants are not, either.
 */
const KEPT = `
  kept as (
    select r.block_id, b.hash, r.accepted_transactions, r.covenant_events
      from removed_chain_blocks r join blocks b on b.id = r.block_id
     where r.covenant_events is not null
       and b.blue_score > (select c.blue_score from bootstrap_blocks s
         join chain_blocks c on c.index = s.chain_index order by c.index desc limit 1)
       and not exists (
         select from transaction_inputs i ${SPENT}
          where i.transaction_id = any(r.accepted_transactions) and o.transaction_id is null
            and u.transaction_id is null))`;

const verifyEvents = faultsOf(`
  with ${KEPT},
  events as (
    select block_id, accepted.id, accepted.place, touch.covenant_id,
           case when spent = 0 then 'genesis' when created = 0 then 'burn'
             else 'transition' end as kind
      from kept
     cross join unnest(accepted_transactions) with ordinality accepted (id, place)
     cross join lateral (
       select covenant_id, sum(spent) as spent, sum(created) as created
         from (select covenant_id, 0 as spent, 1 as created from transaction_outputs
           where transaction_id = accepted.id
               union all
               select coalesce(o.covenant_id, u.covenant_id), 1, 0
                 from transaction_inputs i ${SPENT} where i.transaction_id = accepted.id) touches
        where covenant_id is not null group by covenant_id) touch),
  expected as (
    select block_id, jsonb_agg(jsonb_build_array(id, encode(covenant_id, 'hex'), kind)
      order by place, covenant_id) as events
      from events group by block_id),
  stored as (
    select block_id, hash, (
             select jsonb_agg(jsonb_build_array(e.event -> 0, e.event -> 1, e.event -> 2)
               order by n)
               from jsonb_array_elements(case jsonb_typeof(covenant_events) when 'array'
                 then covenant_events end) with ordinality e (event, n)) as events
      from kept)
  select format('removed chain block %s keeps the covenant events %s, but its transactions have %s',
    encode(s.hash, 'hex'), s.events, e.events) as fault
    from stored s left join expected e using (block_id)
   where s.events is distinct from e.events
   limit ${MAX_FAULTS}`);

interface EventRow {
  block: bigint;
  place: bigint;
  transaction: bigint;
  /** Hex, as the others. */
  hash: string;
  covenantId: string;
  template: string | null;
}

/**
 * Events whose inputs are read together: each may have hundreds of kilobytes of signature scripts.
 */
const EVENTS_AT_ONCE = 100;

/** The events after one, of transactions with a single variant. */
const SELECT_EVENTS = `
  with ${KEPT}
  select block_id as block, place, (event ->> 0)::bigint as transaction,
    encode(hash, 'hex') as hash, event ->> 1 as "covenantId", event ->> 3 as template
    from kept
   cross join jsonb_array_elements(case jsonb_typeof(covenant_events) when 'array'
     then covenant_events end) with ordinality e (event, place)
   where (block_id, place) > ($1, $2) and block_id >= $1 and jsonb_typeof(event -> 0) = 'number'
     and not exists (select from transaction_variants b
       where b.transaction_id = (event ->> 0)::bigint)
   order by block_id, place limit ${EVENTS_AT_ONCE}`;

/** The inputs that spend P2SH outputs of the covenant of each event, in order. */
const SELECT_INPUTS = `
  select e.number::integer as number, s.script, i.signature_script as "signatureScript"
    from unnest($1::bigint[], $2::text[]) with ordinality e (id, covenant_id, number)
    join transaction_inputs i on i.transaction_id = e.id
    join scripts s on s.id = i.script_id and s.type = 'scripthash' ${SPENT}
   where encode(coalesce(o.covenant_id, u.covenant_id), 'hex') = e.covenant_id
   order by e.number, i.index`;

async function verifyTemplates(db: Queryable): Promise<string[]> {
  const faults: string[] = [];
  let after = { block: -1n, place: 0n };
  while (faults.length < MAX_FAULTS) {
    const { rows: events } = await db.query<EventRow>(SELECT_EVENTS, [after.block, after.place]);
    const last = events.at(-1);
    if (last === undefined) break;
    after = last;
    const revealed = await readTemplates(db, events);
    for (const [index, { hash, transaction, covenantId, template }] of events.entries()) {
      const expected = revealed.get(index);
      if (expected === undefined || expected === template) continue;
      faults.push(
        `removed chain block ${hash} keeps template ${template} of covenant ${covenantId}, but transaction ${transaction} reveals ${expected}`,
      );
    }
  }
  return faults.slice(0, MAX_FAULTS);
}

/**
 * Returns the templates of the last programs that inputs of the covenants reveal, by the position
 * of the event.
 */
async function readTemplates(db: Queryable, events: readonly EventRow[]): Promise<Map<number, string>> {
  const { rows } = await db.query<{ number: number; script: Buffer; signatureScript: Buffer }>(
    SELECT_INPUTS,
    columnsOf(events, 'transaction', 'covenantId'),
  );
  const templates = new Map<number, string>();
  for (const { number, script, signatureScript } of rows) {
    const program = revealedProgram({ version: 0, script }, signatureScript);
    const template = program && describeProgram(program).template;
    if (template !== undefined) templates.set(number - 1, toHex(template));
  }
  return templates;
}

export async function verifyRemovedEvents(db: Queryable): Promise<string[]> {
  return [...(await verifyEvents(db)), ...(await verifyTemplates(db))];
}
