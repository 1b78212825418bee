import { CUT } from '../common-table-expressions.ts';
import { DIFFERENCE, faultsOf, type Queryable, type Verification } from '../queryable.ts';
import { EVENTS } from './rebuild.ts';
import { verifyBindings } from './verify-bindings.ts';
import { verifyRemovedEvents } from './verify-removed.ts';

const NAME = `encode(covenant_id, 'hex')`;

const SELECT_WRONG_BALANCES = `
  with stored as (select covenant_id, utxo_count::bigint as utxos, balance::numeric as balance
    from covenants),
  expected as (select covenant_id, count(*) as utxos, sum(amount) as balance from utxos
    where covenant_id is not null group by covenant_id)
  select format('covenant %s has %s UTXOs of %s sompi, but its row says %s of %s', ${NAME},
    coalesce(e.utxos, 0), coalesce(e.balance, 0), s.utxos, s.balance) as fault
    from stored s full join expected e using (covenant_id)
   where (s.utxos, s.balance) is distinct from (coalesce(e.utxos, 0), coalesce(e.balance, 0))
   limit 20`;

/** Before the latest bootstrap block, the covenants of spent outputs may not be known. */
const SELECT_WRONG_EVENTS = `
  with ${EVENTS},
  latest as (select max(chain_index) as index from bootstrap_blocks),
  expected as (
    select covenant_id, chain_index, transaction_id, position, kind from events
      where chain_index > (select index from latest)),
  stored as (
    select c.covenant_id, e.chain_index, e.transaction_id, e.position, e.kind
      from covenant_events e left join covenants c on c.id = e.covenant_id
        where e.chain_index > (select index from latest))
  select format('covenant %s has no event %s by transaction %s', ${NAME}, kind,
    transaction_id) as fault
    from (table expected except all table stored) missing
  union all
  select format('covenant %s has a wrong event %s by transaction %s', ${NAME}, kind, transaction_id)
    from (table stored except all table expected) wrong
  limit 20`;

/** Rows follow from events, as far as these are kept. */
const SELECT_WRONG_COVENANTS = `
  with ${CUT},
  ordered as (
    select e.*, c.chain_time, row_number() over covenant as number,
      lag(c.chain_time) over covenant as seen_before
      from covenant_events e join chain_blocks c on c.index = e.chain_index
    window covenant as (partition by e.covenant_id order by e.chain_index, e.position)),
  summed as (
    select covenant_id as id, count(*) as events, max(chain_time) as last_seen,
           (array_agg(transaction_id
             order by number) filter (where number = 1 and previous_seen is null
               and kind = 'genesis'))[1] as genesis,
           (array_agg(chain_time order by number) filter (where number = 1
             and previous_seen is null))[1] as first_seen,
           (array_agg(template_id order by number desc) filter (where template_id is not null))[1] as template
      from ordered group by covenant_id)
  select format('covenant %s: %s events are kept, last seen %s, first %s by %s, template %s, but its row says %s, %s, %s, %s, %s', ${NAME},
                s.events, s.last_seen, s.first_seen, s.genesis, s.template, c.event_count,
                c.last_seen, c.first_seen, c.genesis_transaction_id, c.template_id) as fault
    from covenants c left join summed s using (id)
   where c.event_count < coalesce(s.events, 0)
     or (c.event_count > coalesce(s.events, 0) and not exists (select from cut))
      or c.last_seen < s.last_seen or (c.is_complete and c.last_seen <> s.last_seen)
      or (s.first_seen is not null and (c.first_seen, c.genesis_transaction_id)
        is distinct from (s.first_seen, s.genesis))
      or (s.template is not null and c.template_id is distinct from s.template)
      or (c.is_complete and c.genesis_transaction_id is null)
      or (not c.is_complete and s.first_seen is not null and not exists (select from cut)
        and not exists (select from gaps))
      or (s.id is null and not exists (select from cut)
        and not exists (select from bootstrap_blocks where utxo_count > 0))
  union all
  select format('the event of transaction %s of covenant %s keeps %s and template %s as what was before it, which is wrong', o.transaction_id, o.covenant_id,
                o.previous_seen, o.previous_template_id)
    from (select *, lag(coalesce(template_id, previous_template_id)) over (partition by covenant_id
      order by number) as template_before from ordered) o
   where number > 1 and (previous_seen is distinct from seen_before or previous_template_id
     is distinct from template_before)
      or number = 1 and previous_seen is null
        and (previous_template_id is not null or kind <> 'genesis')
  limit 20`;

const SELECT_WRONG_HOURS = `
  with ${CUT},
  expected as (
    select (c.chain_time / 3600000)::integer as hour, e.kind, count(*) as events
      from covenant_events e join chain_blocks c on c.index = e.chain_index group by 1, 2),
  stored as (select hour, kind, events from covenant_hours where events <> 0)
  select format('covenant events %s of hour %s: %s', kind, hour, ${DIFFERENCE}) as fault
    from stored s full join expected e using (hour, kind)
   where s.events is distinct from e.events
     and hour > coalesce((select chain_time / 3600000 from cut), -1)
   limit 20`;

const SELECT_WRONG_TEMPLATE_COUNTS = `
  select format('template %s is that of %s covenants, but its row says %s',
    encode(t.template, 'hex'), count(c.id), t.covenant_count) as fault
    from program_templates t left join covenants c on c.template_id = t.id
   group by t.id having count(c.id) <> t.covenant_count
  union all
  select format('covenant %s has a template without a row', ${NAME})
    from covenants c where template_id is not null
      and not exists (select from program_templates t where t.id = c.template_id)
  limit 20`;

/** The part that needs no history. */
export const verifyCurrentCovenants: Verification = faultsOf(SELECT_WRONG_BALANCES);

const verifyRows = faultsOf(
  SELECT_WRONG_BALANCES,
  SELECT_WRONG_EVENTS,
  SELECT_WRONG_COVENANTS,
  SELECT_WRONG_HOURS,
  SELECT_WRONG_TEMPLATE_COUNTS,
);

export async function verifyCovenants(db: Queryable): Promise<string[]> {
  return [...(await verifyRows(db)), ...(await verifyBindings(db)), ...(await verifyRemovedEvents(db))];
}
