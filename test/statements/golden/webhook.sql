-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- createWebhook ---------------------------------------------------------------------------------------

-- #andNotify of packages/webhooks/src/store.ts
select pg_advisory_xact_lock(hashtext ('webhooks of a key'), $1);

-- #andNotify of packages/webhooks/src/store.ts
select count(*)
from webhooks
where api_key_id = $1;

-- #andNotify of packages/webhooks/src/store.ts
insert into
  webhooks (api_key_id, url, events, addresses, covenants, template, confirmations, with_ids, cursor, secret)
values ($1, $2, $3::text[], $4::text[], $5::text[], $6, $7, $8, decode($9, 'hex'), $10)
returning id;

-- #andNotify of packages/webhooks/src/store.ts
select pg_notify ('kasgres_webhooks_' || secret, '')
from notification_secret;

-- listWebhooks ----------------------------------------------------------------------------------------

-- list of packages/webhooks/src/store.ts
select
  w.id,
  w.revision,
  url,
  events,
  addresses,
  covenants,
  template,
  confirmations,
  with_ids as "withIds",
  status,
  status_reason as "statusReason",
  encode(w.cursor, 'hex') as cursor,
  w.sequence,
  failures,
  failing_since as "failingSince",
  case
    when d.id is not null
    and status = 'active' then coalesce(least(next_attempt_at, now() + make_interval(secs => pause_ms / 1000.0)), d.created_at)
  end as "nextAttemptAt",
  w.created_at as "createdAt"
from
  webhooks w
  left join webhook_deliveries d on d.webhook_id = w.id
  and d.is_pending
  and d.sequence is not null
where api_key_id = $1
order by w.id;

-- getWebhook ------------------------------------------------------------------------------------------

-- list of packages/webhooks/src/store.ts
select
  w.id,
  w.revision,
  url,
  events,
  addresses,
  covenants,
  template,
  confirmations,
  with_ids as "withIds",
  status,
  status_reason as "statusReason",
  encode(w.cursor, 'hex') as cursor,
  w.sequence,
  failures,
  failing_since as "failingSince",
  case
    when d.id is not null
    and status = 'active' then coalesce(least(next_attempt_at, now() + make_interval(secs => pause_ms / 1000.0)), d.created_at)
  end as "nextAttemptAt",
  w.created_at as "createdAt"
from
  webhooks w
  left join webhook_deliveries d on d.webhook_id = w.id
  and d.is_pending
  and d.sequence is not null
where
  api_key_id = $1
  and w.id = $2
order by w.id;

-- updateWebhook ---------------------------------------------------------------------------------------

-- list of packages/webhooks/src/store.ts: in webhook.sql, getWebhook

-- #andNotify of packages/webhooks/src/store.ts: url
select
from webhooks
where
  api_key_id = $1
  and id = $2
  and revision = $3
for update;

-- #andNotify of packages/webhooks/src/store.ts: url
update webhooks
set
  revision = revision + 1,
  url = $1
where id = $2;

-- #andNotify of packages/webhooks/src/store.ts: in webhook.sql, createWebhook

-- #andNotify of packages/webhooks/src/store.ts: addresses
update webhooks
set
  revision = revision + 1,
  addresses = $1::text[]
where id = $2;

-- #andNotify of packages/webhooks/src/store.ts: covenants
update webhooks
set
  revision = revision + 1,
  covenants = $1::text[]
where id = $2;

-- #andNotify of packages/webhooks/src/store.ts: template
update webhooks
set
  revision = revision + 1,
  template = $1
where id = $2;

-- #andNotify of packages/webhooks/src/store.ts: status
update webhooks
set
  revision = revision + 1,
  status = $1,
  status_reason = $2,
  failures = 0,
  failing_since = null,
  failing_ms = 0,
  next_attempt_at = null,
  pause_ms = 0
where id = $3;

-- rotateWebhookSecret ---------------------------------------------------------------------------------

-- #andNotify of packages/webhooks/src/store.ts
select
from webhooks
where
  api_key_id = $1
  and id = $2
for update;

-- #andNotify of packages/webhooks/src/store.ts
update webhooks
set
  previous_secret = secret,
  previous_secret_until = now() + make_interval(hours => $1),
  secret = $2,
  revision = revision + 1
where id = $3;

-- #andNotify of packages/webhooks/src/store.ts: in webhook.sql, createWebhook

-- replayWebhook ---------------------------------------------------------------------------------------

-- list of packages/webhooks/src/store.ts: in webhook.sql, getWebhook

-- #andNotify of packages/webhooks/src/store.ts: in webhook.sql, updateWebhook

-- #andNotify of packages/webhooks/src/store.ts
with
  given_up as (
    update webhook_deliveries
    set
      is_pending = false,
      body = null,
      error = 'given up: replayed from another block'
    where
      webhook_id = $1
      and is_pending
      and sequence is not null
    returning sequence
  )
update webhooks
set
  cursor = decode($2, 'hex'),
  revision = revision + 1,
  sequence = coalesce(
    (
      select max(sequence)
      from given_up
    ),
    sequence
  ),
  failures = 0,
  failing_since = null,
  failing_ms = 0,
  next_attempt_at = null,
  pause_ms = 0
where id = $3;

-- #andNotify of packages/webhooks/src/store.ts: in webhook.sql, createWebhook

-- testWebhook -----------------------------------------------------------------------------------------

-- #andNotify of packages/webhooks/src/store.ts
select encode(cursor, 'hex') as cursor
from webhooks
where
  api_key_id = $1
  and id = $2
for update;

-- #andNotify of packages/webhooks/src/store.ts
select id
from webhook_deliveries
where
  webhook_id = $1
  and is_pending
  and sequence is null
limit 1;

-- #andNotify of packages/webhooks/src/store.ts
insert into
  webhook_deliveries (webhook_id, cursor, body)
values ($1, decode($2, 'hex'), $3)
returning id;

-- #andNotify of packages/webhooks/src/store.ts: in webhook.sql, createWebhook

-- listWebhookDeliveries -------------------------------------------------------------------------------

-- list of packages/webhooks/src/store.ts: in webhook.sql, getWebhook

-- listDeliveries of packages/webhooks/src/store.ts
select
  id,
  sequence,
  encode(cursor, 'hex') as cursor,
  attempts,
  status_code as "statusCode",
  latency_ms as "latencyMs",
  error,
  case
    when is_pending then 'pending'
    when delivered_at is null then 'failed'
    else 'delivered'
  end as status,
  created_at as "createdAt",
  attempted_at as "attemptedAt",
  delivered_at as "deliveredAt"
from webhook_deliveries
where webhook_id = $1
order by id desc
limit $2;

-- listActive ------------------------------------------------------------------------------------------

-- listActive of packages/webhooks/src/queue.ts
select
  w.id,
  w.api_key_id as "keyId",
  w.revision,
  encode(w.cursor, 'hex') as cursor,
  w.sequence,
  w.failures,
  d.id as "deliveryId",
  coalesce(
    least(
      greatest(
        extract(
          epoch
          from w.next_attempt_at - now()
        ) * 1000,
        0
      ),
      w.pause_ms
    ),
    0
  )::float8 as "dueInMs"
from
  webhooks w
  left join webhook_deliveries d on d.webhook_id = w.id
  and d.is_pending
  and d.sequence is not null
where
  w.status = 'active'
  and exists (
    select
    from api_keys k
    where
      k.id = w.api_key_id
      and k.revoked_at is null
      and (
        k.expires_at is null
        or k.expires_at > now()
      )
  )
order by w.id;

-- listTests -------------------------------------------------------------------------------------------

-- listTests of packages/webhooks/src/queue.ts
select
  d.id,
  d.webhook_id as "webhookId",
  w.api_key_id as "keyId"
from
  webhook_deliveries d
  join webhooks w on w.id = d.webhook_id
where
  d.is_pending
  and d.sequence is null
  and exists (
    select
    from api_keys k
    where
      k.id = w.api_key_id
      and k.revoked_at is null
      and (
        k.expires_at is null
        or k.expires_at > now()
      )
  )
order by d.id;

-- listDefinitions -------------------------------------------------------------------------------------

-- listDefinitions of packages/webhooks/src/queue.ts
select
  id,
  revision,
  events,
  addresses,
  covenants,
  template,
  confirmations,
  with_ids as "withIds"
from webhooks
where id = any ($1::bigint[]);

-- addDeliveries ---------------------------------------------------------------------------------------

-- #add of packages/webhooks/src/queue.ts
with
  given as (
    select *
    from jsonb_to_recordset($1::jsonb) given ("webhookId" bigint, revision integer, sequence bigint, previous text, cursor text, body text)
  ),
  locked as (
    select
      w.id,
      w.sequence,
      given.cursor,
      given.body
    from
      webhooks w
      join given on given."webhookId" = w.id
    where
      w.revision = given.revision
      and w.sequence = given.sequence
      and w.cursor = decode(given.previous, 'hex')
      and w.status = 'active'
    order by w.id
    for update of
      w
  )
insert into
  webhook_deliveries (webhook_id, sequence, cursor, body)
select
  id,
  sequence + 1,
  decode(cursor, 'hex'),
  body
from locked
on conflict do nothing;

-- listActive of packages/webhooks/src/queue.ts: in webhook.sql, listActive

-- findDelivery ----------------------------------------------------------------------------------------

-- findDelivery of packages/webhooks/src/queue.ts
select
  d.id,
  w.id as "webhookId",
  d.sequence,
  encode(d.cursor, 'hex') as cursor,
  d.body,
  w.url,
  w.revision,
  w.failures,
  w.secret,
  case when w.previous_secret_until > now() then w.previous_secret
  end as "previousSecret"
from
  webhook_deliveries d
  join webhooks w on w.id = d.webhook_id
where
  d.id = $1
  and d.is_pending;

-- finish ----------------------------------------------------------------------------------------------

-- packages/webhooks/src/queue.ts: after a failure
select revision
from webhooks
where id = $1
for update;

-- packages/webhooks/src/queue.ts: after a failure
update webhook_deliveries
set
  attempts = attempts + 1,
  attempted_at = now() - make_interval(secs => $1),
  status_code = $2,
  latency_ms = $3,
  error = $4
where
  id = $5
  and is_pending
returning id;

-- #noteFailure of packages/webhooks/src/queue.ts: after a failure
with
  failed as (
    select
      $1::boolean as is_gone,
      failing_ms + pause_ms + $2::bigint as tried_ms
    from webhooks
    where id = $3
  )
update webhooks
set
  failures = failures + 1,
  failing_since = coalesce(failing_since, now()),
  failing_ms = tried_ms,
  next_attempt_at = now() + make_interval(secs => $4),
  pause_ms = $5,
  status = case
    when is_gone
    or tried_ms >= $6 then 'disabled'
    else status
  end,
  status_reason = case
    when is_gone then 'the receiver responded 410'
    when tried_ms >= $7 then $8
    else status_reason
  end
from failed
where id = $9
returning
  status,
  status_reason as reason;

-- packages/webhooks/src/queue.ts: after a failed test
--   like packages/webhooks/src/queue.ts, except:
--      status_code = $2,
--      latency_ms = $3,
--   -  error = $4
--   +  error = $4,
--   +  is_pending = false,
--   +  body = null
--    where
--      id = $5

-- #pruneLog of packages/webhooks/src/queue.ts: after a failed test
delete from webhook_deliveries
where
  webhook_id = $1
  and not is_pending
  and id <= (
    select id
    from webhook_deliveries
    where webhook_id = $2
    order by id desc
    offset $3
    limit 1
  );

-- packages/webhooks/src/queue.ts: after a success
--   like packages/webhooks/src/queue.ts, except:
--      latency_ms = $3,
--      error = $4,
--   +  delivered_at = now(),
--      is_pending = false,
--      body = null

-- #advance of packages/webhooks/src/queue.ts: after a success
update webhooks
set
  cursor = decode($1, 'hex'),
  sequence = $2,
  failures = 0,
  failing_since = null,
  failing_ms = 0,
  next_attempt_at = null,
  pause_ms = 0
where id = $3;

-- moveCursors -----------------------------------------------------------------------------------------

-- moveCursors of packages/webhooks/src/queue.ts
select
from webhooks
where id = any ($1::bigint[])
order by id
for update;

-- moveCursors of packages/webhooks/src/queue.ts
update webhooks w
set cursor = decode($1, 'hex')
from unnest($2::bigint[], $3::integer[]) given (id, revision)
where
  w.id = given.id
  and w.revision = given.revision
  and w.cursor = decode($4, 'hex')
  and w.status = 'active'
  and not exists (
    select
    from webhook_deliveries d
    where
      d.webhook_id = w.id
      and d.is_pending
      and d.sequence is not null
  );

-- limitPreviousSecrets --------------------------------------------------------------------------------

-- limitPreviousSecrets of packages/webhooks/src/queue.ts
update webhooks
set previous_secret_until = now() + make_interval(hours => $1)
where previous_secret_until > now() + make_interval(hours => $2);

-- count -----------------------------------------------------------------------------------------------

-- count of packages/webhooks/src/queue.ts
select
  count(*) filter (
    where
      w.status = 'active'
      and exists (
        select
        from api_keys k
        where
          k.id = w.api_key_id
          and k.revoked_at is null
          and (
            k.expires_at is null
            or k.expires_at > now()
          )
      )
  )::integer as active,
  count(*) filter (
    where w.status = 'disabled'
  )::integer as disabled,
  greatest(
    extract(
      epoch
      from
        now() - min(d.created_at) filter (
          where
            w.status = 'active'
            and exists (
              select
              from api_keys k
              where
                k.id = w.api_key_id
                and k.revoked_at is null
                and (
                  k.expires_at is null
                  or k.expires_at > now()
                )
            )
        )
    ),
    0
  )::float8 as lag
from
  webhooks w
  left join webhook_deliveries d on d.webhook_id = w.id
  and d.is_pending
  and d.sequence is not null;

-- disable ---------------------------------------------------------------------------------------------

-- disable of packages/webhooks/src/queue.ts
update webhooks
set
  status = 'disabled',
  status_reason = $1,
  revision = revision + 1
where
  id = $2
  and revision = $3
  and cursor = decode($4, 'hex')
  and status = 'active'
returning id;

-- deleteWebhook ---------------------------------------------------------------------------------------

-- #andNotify of packages/webhooks/src/store.ts: in webhook.sql, rotateWebhookSecret

-- #andNotify of packages/webhooks/src/store.ts
with
  log as (
    delete from webhook_deliveries
    where webhook_id = $1
  )
delete from webhooks
where id = $2;

-- #andNotify of packages/webhooks/src/store.ts: in webhook.sql, createWebhook
