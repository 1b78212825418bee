/**
 * Computes covenants and their events from rows, after programs, whose reveals give the templates.
 */
import type { ClientBase } from 'pg';
import { ACCEPTED, UNSPENT } from '../common-table-expressions.ts';
import type { CandidateTransactions } from '../first-catch-up/candidate-transactions.ts';
import { DROP_FOUND, rebuildPrograms } from '../programs/rebuild.ts';

/** Writes programs, too. */
export async function rebuildCovenants(client: ClientBase, candidates?: CandidateTransactions): Promise<void> {
  await rebuildPrograms(client, candidates);
  if (candidates?.hasCovenants !== false) await rebuildEvents(client);
  await client.query(DROP_FOUND);
}

async function rebuildEvents(client: ClientBase): Promise<void> {
  await client.query('drop table if exists found_events');
  await client.query(CREATE_EVENTS);
  await client.query('analyze found_events');
  await client.query(INSERT_COVENANTS);
  await client.query('analyze covenants');
  await client.query(INSERT_EVENTS);
  await client.query(COUNT_TEMPLATES);
  await client.query(
    `insert into covenant_hours (hour, kind, events)
     select (chain_time / 3600000)::integer, kind, count(*) from found_events group by 1, 2`,
  );
  await client.query('drop table found_events');
}

/**
 * The events of covenants, by facts. A UTXO set may have outputs that have rows, too. A transaction
 * from before a gap may be accepted again after it.
 */
export const EVENTS = `
  covenant_outputs as (
    select transaction_id, index, covenant_id from transaction_outputs where covenant_id is not null
    union
    select transaction_id, index, covenant_id from bootstrap_utxos where covenant_id is not null),
  touches as (
    select covenant_id, transaction_id, 0 as spent, 1 as created from transaction_outputs
      where covenant_id is not null
    union all
    select o.covenant_id, i.transaction_id, 1, 0
      from covenant_outputs o
      join transaction_inputs i on i.previous_transaction_id = o.transaction_id
        and i.previous_index = o.index),
  events as (
    select touch.covenant_id, touch.transaction_id, c.index as chain_index, c.chain_time,
      accepted.number::integer - 1 as position, created - spent as live,
           (case when spent = 0 then 'genesis' when created = 0 then 'burn'
             else 'transition' end)::covenant_event_kind as kind
      from (select covenant_id, transaction_id, sum(spent) as spent, sum(created) as created
        from touches group by covenant_id, transaction_id) touch
      join (chain_blocks c cross join lateral unnest(c.accepted_transactions)
        with ordinality accepted (id, number)) on accepted.id = touch.transaction_id)`;

/** The covenants of the latest UTXO set, by when it begins. */
const STARTING = `
  starting as (
    select u.covenant_id, c.index, c.chain_time,
      c.hash in (select before_block_hash from gaps) as is_gap
      from (select distinct covenant_id from bootstrap_utxos where covenant_id is not null) u
     cross join (select * from bootstrap_blocks order by chain_index desc limit 1) s
      join chain_blocks c on c.index = s.chain_index)`;

const CREATE_EVENTS = `create temporary table found_events as with ${EVENTS} select * from events`;

/** A covenant that had UTXOs when a gap began is not complete. */
const INSERT_COVENANTS = `
  with ${ACCEPTED}, ${UNSPENT}, ${STARTING},
  live as (select covenant_id, count(*)::integer as utxos, sum(amount)::bigint as balance
    from unspent where covenant_id is not null group by covenant_id),
  firsts as (select distinct on (covenant_id) * from found_events
    order by covenant_id, chain_index, position),
  counts as (select covenant_id, count(*) as events, max(chain_time) as last_seen from found_events
    group by covenant_id),
  interrupted as (
    select distinct e.covenant_id
      from bootstrap_blocks s join chain_blocks c on c.index = s.chain_index
        join found_events e on e.chain_index <= s.chain_index
     where c.hash in (select before_block_hash from gaps)
     group by e.covenant_id, s.chain_index having sum(e.live) > 0),
  last as (
    select distinct on (covenant_id) r.covenant_id, t.id as template_id
      from found_reveals r join program_templates t using (template)
     where r.covenant_id is not null
     order by covenant_id, chain_index desc, position desc, index desc)
  insert into covenants (genesis_transaction_id, event_count, balance, first_seen, last_seen,
    template_id, utxo_count, is_complete, covenant_id)
  select case when f.kind = 'genesis' and (s.index is null or f.chain_index <= s.index)
    then f.transaction_id end, coalesce(counts.events, 0),
         coalesce(live.balance, 0), least(f.chain_time, s.chain_time),
         coalesce(counts.last_seen, s.chain_time), last.template_id, coalesce(live.utxos, 0),
         coalesce(f.kind = 'genesis'
           and (s.index is null or not s.is_gap and f.chain_index <= s.index), false)
             and i.covenant_id is null, covenant_id
    from firsts f
    full join starting s using (covenant_id)
    left join counts using (covenant_id)
    left join live using (covenant_id)
    left join interrupted i using (covenant_id)
    left join last using (covenant_id)
   order by f.chain_index nulls first, f.position`;

/** The template that an event finds: that of the latest one before it that reveals one. */
export const TEMPLATE_BEFORE = `
  (max(array[chain_index, position, template_id]) filter (where template_id is not null)
     over (partition by covenant_id order by chain_index, position
       rows between unbounded preceding and 1 preceding))[3]`;

/** The templates of the last programs that inputs of each transaction reveal, by covenant. */
const INSERT_EVENTS = `
  with ${STARTING},
  revealed as (
    select distinct on (r.covenant_id, r.transaction_id) r.covenant_id, r.transaction_id,
      t.id as template_id
      from found_reveals r join program_templates t using (template)
     where r.covenant_id is not null
     order by r.covenant_id, r.transaction_id, r.index desc),
  -- By key, which sorts faster than an id.
  keyed as (
    select c.id as covenant_id, e.transaction_id, e.chain_index, e.chain_time, e.position, e.kind,
      r.template_id, case when s.index < e.chain_index then s.chain_time end as started
      from found_events e
      join covenants c using (covenant_id)
      left join revealed r using (covenant_id, transaction_id)
      left join starting s using (covenant_id)),
  ordered as (
    select *, ${TEMPLATE_BEFORE} as previous_template_id,
           lag(chain_time) over (partition by covenant_id
             order by chain_index, position) as previous_seen
      from keyed)
  insert into covenant_events (covenant_id, chain_index, transaction_id, previous_seen, position,
    kind, template_id, previous_template_id)
  select covenant_id, chain_index, transaction_id, coalesce(previous_seen, started), position, kind,
    template_id, previous_template_id
    from ordered order by chain_index, position`;

const COUNT_TEMPLATES = `
  update program_templates t set covenant_count = c.covenants
    from (select template_id, count(*) as covenants from covenants where template_id is not null
      group by template_id) c
   where t.id = c.template_id`;
