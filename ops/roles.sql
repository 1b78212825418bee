-- Creates roles with the least privileges. Run it as the owner of the database, who needs
-- `createrole`, after each `kasgres migrate`. Idempotent.
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f ops/roles.sql
--
-- The four roles cannot log in. Create logins as members of them:
--
--   create role indexer_1 login password '…' in role kasgres_indexer;
--
-- kasgres_indexer owns the tables of the chain, because its first catch-up drops and builds their
-- indexes and disables their autovacuum, which only an owner may do. Indexes and partitions also
-- need `create` on the schema, and removing old rows (`RETENTION`) needs temporary tables. It reads
-- tags. It can neither read nor change keys, their usage and rate limits, and cannot change
-- migrations.
-- kasgres_api reads everything, and writes key usage, rate limits and webhooks.
-- kasgres_webhooks reads what the API reads, without the hashes of keys, and writes the progress of
-- webhooks.
-- kasgres_analyst reads the views and functions of schema kaspa only. `kasgres analysts` creates
-- its logins with limits, which the indexer enforces as a member of each login. Run this script
-- again after creating a login by hand.

begin;

-- Changing the owner of a table waits for its readers, and new readers wait behind it. So this
-- fails after two seconds ("canceling statement due to lock timeout") and must be run again.
set local lock_timeout = '2s';

do $$
declare
  role text;
begin
  foreach role in array array['kasgres_indexer', 'kasgres_api', 'kasgres_webhooks'] loop
    -- Roles belong to the whole server, so another database may have created them.
    begin
      execute format('create role %I nologin', role);
    exception when duplicate_object or unique_violation then null;
    end;
    execute format('grant connect on database %I to %I', current_database(), role);
    execute format('grant usage on schema public to %I', role);
  end loop;
end $$;

-- Only a member of the new owner may transfer a table to it. Membership also lets later migrations
-- alter these tables.
grant kasgres_indexer to current_user;

revoke create on schema public from public;
grant create on schema public to kasgres_indexer;

do $$
begin
  execute format('grant temporary on database %I to kasgres_indexer', current_database());
end $$;

do $$
declare
  keys_and_use text[] := array['api_keys', 'api_key_usage', 'rate_limits', 'webhooks', 'webhook_deliveries'];
  analysts text[] := array['analysts'];
  tags text[] := array['tags', 'tag_labels', 'tag_sources', 'attributions'];
  name text;
begin
  for name in select tablename from pg_tables where schemaname = 'public' loop
    if name <> all (analysts) then
      execute format('grant select on %I to kasgres_api', name);
    end if;
    if name <> all (keys_and_use) then
      execute format('grant select on %I to kasgres_indexer', name);
    end if;
    if name <> all (keys_and_use || analysts) then
      execute format('grant select on %I to kasgres_webhooks', name);
    end if;
    if name <> all (keys_and_use || analysts || tags || array['migrations'])
      and not exists (select from pg_tables where schemaname = 'public' and tablename = name and tableowner = 'kasgres_indexer') then
      execute format('alter table %I owner to kasgres_indexer', name);
    end if;
  end loop;
  for name in select viewname from pg_views where schemaname = 'public' loop
    execute format('grant select on %I to kasgres_api, kasgres_indexer, kasgres_webhooks', name);
  end loop;
end $$;

grant insert, update on api_key_usage to kasgres_api;
grant insert, update, delete on rate_limits, webhooks, webhook_deliveries to kasgres_api;
grant select (id, revoked_at, expires_at) on api_keys to kasgres_webhooks;
grant select, update on webhooks to kasgres_webhooks;
grant select, insert, update, delete on webhook_deliveries to kasgres_webhooks;

select admit_analysts();
select close_databases_to_analysts();

commit;
