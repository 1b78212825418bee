-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- createKey -------------------------------------------------------------------------------------------

-- createKey of packages/database/src/keys/keys.ts
insert into
  "api_keys" (
    "name",
    "key_hash",
    "rate_ru",
    "window_seconds",
    "quota_ru",
    "quota_period",
    "concurrency",
    "read_only",
    "expires_at"
  )
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
returning "id";

-- findKey ---------------------------------------------------------------------------------------------

-- findKeys of packages/database/src/keys/keys.ts
select
  *,
  case quota_period
    when 'day' then $1::date
    when 'month' then $2::date
  end as "used_since",
  (
    select coalesce(sum(ru), 0) as "ru"
    from "api_key_usage"
    where
      "api_key_id" = "api_keys"."id"
      and "day" >= case quota_period
        when 'day' then $3::date
        when 'month' then $4::date
      end
  ) as "used_ru"
from "api_keys"
where
  "key_hash" = any ($5::bytea[])
  and "revoked_at" is null
  and coalesce(expires_at > now(), true);

-- findKeyHashes ---------------------------------------------------------------------------------------

-- findKeyHashes of packages/database/src/keys/keys.ts
select
  "id",
  "key_hash"
from "api_keys"
where "id" = any ($1::bigint[]);

-- listKeys --------------------------------------------------------------------------------------------

-- listKeys of packages/database/src/keys/keys.ts
select *
from "api_keys"
order by "id";

-- addUsage --------------------------------------------------------------------------------------------

-- begin of packages/database/src/connection/commit.ts
select pg_current_xact_id()::text as number
from set_config('idle_in_transaction_session_timeout', $1, true);

-- addUsage of packages/database/src/keys/usage.ts
insert into
  "api_key_usage" ("api_key_id", "day", "requests", "ru")
values ($1, $2, $3, $4)
on conflict ("api_key_id", "day") do update
set
  "requests" = api_key_usage.requests + excluded.requests,
  "ru" = api_key_usage.ru + excluded.ru;

-- hasCommitted of packages/database/src/connection/commit.ts
select pg_xact_status($1::xid8) as status;

-- listUsage -------------------------------------------------------------------------------------------

-- listUsage of packages/database/src/keys/usage.ts
select *
from "api_key_usage"
where "api_key_id" = $1
order by "day" desc
limit $2;

-- revokeKey -------------------------------------------------------------------------------------------

-- revokeKey of packages/database/src/keys/keys.ts
update "api_keys"
set "revoked_at" = now()
where
  "id" = $1
  and "revoked_at" is null;

-- charge and refund -----------------------------------------------------------------------------------

-- “charge rate limits”
with
  clock as (
    select
      (
        extract(
          epoch
          from statement_timestamp()
        ) * 1000
      )::bigint as now
  ),
  requested as (
    select *
    from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) as requested (key, cost, unit, allowed, duration)
  ),
  held as (
    select
      key,
      points,
      expire
    from rate_limits
    where key = any ($1::text[])
    order by key
    for update
  ),
  opened as (
    select
      requested.key,
      cost,
      unit,
      allowed,
      held.key is not null as has_row,
      clock.now,
      case
        when is_open then held.points
        else 0
      end as points,
      case
        when is_open then held.expire
        else clock.now + duration
      end as expire
    from
      requested
      cross join clock
      left join held on held.key = requested.key
      -- A window that ends later than a new one would was opened before the clock was set back, or its limit was changed.
      cross join lateral (
        select
          held.expire > clock.now
          and held.expire <= clock.now + duration as is_open
      ) opened
  ),
  granted as (
    select
      *,
      least(cost, greatest(allowed - points, 0) / unit * unit) as points_granted
    from opened
  ),
  updated as (
    update rate_limits
    set
      points = granted.points + points_granted,
      expire = granted.expire
    from granted
    where
      rate_limits.key = granted.key
      and has_row
      and points_granted > 0
  ),
  inserted as (
    insert into
      rate_limits (key, points, expire)
    select
      key,
      points_granted,
      expire
    from granted
    where
      not has_row
      and points_granted > 0
    order by key
    on conflict do nothing
    returning key
  )
select
  key,
  points_granted as granted,
  allowed - points as available,
  expire as
window
,
  expire - now as ends_in_ms
from granted
where
  has_row
  or points_granted = 0
  or key in (
    select key
    from inserted
  );

-- “refund rate limits”
with
  refund as (
    select *
    from unnest($1::text[], $2::bigint[], $3::bigint[]) as refund (key, expire, points)
  ),
  locked as (
    select
      held.key,
      refund.points
    from
      rate_limits held
      join refund on refund.key = held.key
      and refund.expire = held.expire
    order by held.key
    for update of
      held
  )
update rate_limits held
set points = held.points - locked.points
from locked
where held.key = locked.key;
