import { AT_BOOTSTRAP, CUT, TOUCHES } from '../../common-table-expressions.ts';
import { DIFFERENCE, faultsOf } from '../../queryable.ts';

const SELECT_WRONG_TIMES = `
  with ${CUT}
  select format('chain block %s: its chain_time is not the running maximum of the chain',
    index) as fault from (
    select index, chain_time,
      max(case when index = (select index from cut) then chain_time
        else timestamp end) over (order by index) as latest
    from chain_blocks
  ) timed where chain_time <> latest limit 20`;

/**
 * Includes the counts of accepted transactions, which balances keep, since both read every touch.
 * With retention they are at least those of the rows, and times are checked as far as rows give
 * them.
 */
const SELECT_WRONG_SCRIPTS = `
  with ${TOUCHES}, ${AT_BOOTSTRAP}, ${CUT},
  summed as (
    select script_id, count(*) as accepted_count, sum((received > 0)::integer) as receiving_count,
      sum((sent > 0)::integer) as sending_count,
      sum((is_coinbase and received > 0)::integer) as coinbase_count, sum(received) as received,
      sum(sent) as sent
    from touches group by script_id
  ),
  activity as (
    select script_id, least(touched.first, s.chain_time) as first_seen,
      coalesce(touched.last, s.chain_time) as last_seen
    from (select script_id, min(chain_time) as first, max(chain_time) as last from touches
      group by script_id) touched
    full join at_bootstrap s using (script_id)
  ),
  expected as (
    select script_id, coalesce(accepted_count, 0) as accepted_count,
      coalesce(receiving_count, 0) as receiving_count, coalesce(sending_count, 0) as sending_count,
      coalesce(coinbase_count, 0) as coinbase_count, coalesce(received, 0) as received,
      coalesce(sent, 0) as sent, first_seen, last_seen
    from activity full join summed using (script_id)
  ),
  stored as (
    select script_id, accepted_count, receiving_count, sending_count, coinbase_count, received,
      sent, first_seen, last_seen from balances
  )
  select format('script %s: %s', script_id, ${DIFFERENCE}) as fault
  from stored s full join expected e using (script_id) left join cut on true
  where case when cut.index is null then
      (s.accepted_count, s.receiving_count, s.sending_count, s.coinbase_count, s.received, s.sent,
        s.first_seen, s.last_seen)
        is distinct from (coalesce(e.accepted_count, 0), coalesce(e.receiving_count, 0),
          coalesce(e.sending_count, 0), coalesce(e.coinbase_count, 0), coalesce(e.received, 0),
          coalesce(e.sent, 0), e.first_seen, e.last_seen)
    else
      s.accepted_count is null or s.accepted_count < e.accepted_count
        or s.receiving_count < e.receiving_count
        or s.sending_count < e.sending_count or s.coinbase_count < e.coinbase_count
          or s.received < e.received or s.sent < e.sent
        or s.first_seen > e.first_seen or s.first_seen > s.last_seen
        or (greatest(s.last_seen, e.last_seen) > cut.chain_time and s.last_seen
          is distinct from e.last_seen)
    end
  limit 20`;

/**
 * With retention, a script may have been seen at any time before the first chain block, or never.
 */
const SELECT_WRONG_SEEN_BEFORE = `
  with ${TOUCHES}, ${AT_BOOTSTRAP}, ${CUT},
  ordered as (
    select t.script_id, t.index,
      coalesce(lag(t.chain_time) over (partition by t.script_id order by t.index),
        s.chain_time) as last_seen
    from (select distinct script_id, index, chain_time from touches) t
    left join at_bootstrap s on s.script_id = t.script_id and s.index < t.index
  ),
  stored as (
    select chain_index, s.script_id, case when s.last_seen <= (select chain_time from cut) then null
      else s.last_seen end as last_seen
    from seen_before cross join unnest(script_ids, last_seen) as s (script_id, last_seen)
  ),
  expected as (
    select index as chain_index, script_id, case when last_seen <= (select chain_time from cut)
      then null else last_seen end as last_seen
    from ordered where index in (select chain_index from seen_before)
  )
  select distinct format('seen_before of chain block %s differs from the activity below it',
    chain_index) as fault from (
    select chain_index from ((table stored except all table expected)
      union all (table expected except all table stored)) differing
    union all
    select chain_index from seen_before where chain_index not in (select index from chain_blocks)
  ) wrong
  limit 20`;

export const verifyScriptActivity = faultsOf(SELECT_WRONG_TIMES, SELECT_WRONG_SCRIPTS, SELECT_WRONG_SEEN_BEFORE);
