import { CUT, HELD } from '../../common-table-expressions.ts';
import { faultsOf } from '../../queryable.ts';

/**
 * The difference between a bootstrap block's UTXO set and the balances before it is a change in the
 * hour of that block. Hours that retention has removed the rows of are checked together, with the
 * hour of the first chain block.
 */
const SELECT_WRONG_HOURS = `
  with segments as (
    select s.chain_index, c.chain_time / 3600000 as hour,
      lead(s.chain_index) over by_index as next_index,
      lead(c.chain_time) over by_index / 3600000 as next_hour
    from bootstrap_blocks s join chain_blocks c on c.index = s.chain_index
    window by_index as (order by s.chain_index)
  ),
  ${HELD}, ${CUT},
  stored as (
    select script_id, greatest(hour, (select chain_time / 3600000 from cut)) as hour,
      sum(change) as change from balance_changes group by 1, 2
  ),
  counted as (
    select held.script_id, segments.hour, segments.next_hour, held.amount from held
      join segments using (chain_index)
    union all
    select a.script_id, c.chain_time / 3600000, segments.next_hour,
      a.amount_received - a.amount_sent
    from segments
    join chain_blocks c on c.index > segments.chain_index
      and c.index <= coalesce(segments.next_index, 9223372036854775807)
    cross join unnest(c.accepted_transactions) as accepted (id)
    join script_deltas a on a.transaction_id = accepted.id
    where a.script_id is not null
  ),
  expected as (
    select script_id, hour, sum(amount) as change from (
      select script_id, hour, amount from counted
      union all
      select script_id, next_hour, -amount from counted where next_hour is not null
    ) shifted
    group by script_id, hour
  )
  select format('script %s: change %s in hour %s, sum of its accepted deltas %s', script_id,
    coalesce(s.change, 0), hour, coalesce(e.change, 0)) as fault
  from stored s full join expected e using (script_id, hour)
  where coalesce(s.change, 0) <> coalesce(e.change, 0)
  limit 20`;

/** Each hour ends with a chain block, at which no balance is negative. */
const SELECT_NEGATIVE_HOURS = `
  select format('script %s: its changes up to hour %s sum up to %s', script_id, hour,
    running) as fault from (
    select script_id, hour, sum(change) over (partition by script_id order by hour) as running
      from balance_changes
  ) summed
  where running < 0
  limit 20`;

/** The latest hour of a script is in `balances`, so that no hour is in both tables. */
const SELECT_LATE_HOURS = `
  select format('script %s: hour %s is in previous_balance_changes, but not before hour %s of its latest change', script_id, hour,
    coalesce(last_change_hour::text, 'missing'))
    as fault
  from previous_balance_changes left join balances using (script_id)
  where hour >= last_change_hour or last_change_hour is null
  limit 20`;

export const verifyHourlyBalanceChanges = faultsOf(SELECT_WRONG_HOURS, SELECT_NEGATIVE_HOURS, SELECT_LATE_HOURS);
