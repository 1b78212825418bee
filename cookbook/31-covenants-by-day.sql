-- How many covenants are created and burned?
--
-- Events of covenants by day: one for each accepted transaction and covenant that it touches. A
-- burn spends UTXOs of the covenant and creates none, and a covenant ends when its last UTXO is
-- burned, so there may be more burns than ended covenants. One that began before the index is never
-- counted as created, and one that ended in a gap counts on the day of its last known event.

with events as (
  select
    (date_trunc('day', hour, 'UTC') at time zone 'UTC')::date as day,
    sum(events) filter (where kind = 'genesis') as created,
    sum(events) filter (where kind = 'transition') as transitions,
    sum(events) filter (where kind = 'burn') as burns
  from kaspa.covenant_hours
  group by 1
),
ended as (
  select (last_seen at time zone 'UTC')::date as day, count(*) as ended
  from kaspa.covenants
  where not is_live
  group by 1
)
select
  day,
  coalesce(created, 0)::bigint as created,
  coalesce(transitions, 0)::bigint as transitions,
  coalesce(burns, 0)::bigint as burns,
  coalesce(ended, 0) as ended
from events
  left join ended using (day)
order by day desc
limit 30;
