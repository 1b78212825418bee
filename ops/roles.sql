-- Roles with no more rights than they need. Run it as the owner of the database (who also runs `kasgres migrate`), once the
-- role may create roles, and again after each migration: it can be repeated.
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f ops/roles.sql
--
-- The three roles cannot log in: logins are given out as members of them.
--
--   create role indexer_1 login password '…' in role kasgres_indexer;
--
-- kasgres_indexer owns the tables of the chain: its first catch-up drops and builds their indexes and holds autovacuum off
-- them, which Postgres lets only an owner do, and building an index needs `create` on the schema besides. It reads tags, and
-- it can neither see nor change keys, their use, rate limits and migrations.
-- kasgres_api reads everything, and writes what keys have used and rate limits.
-- kasgres_analyst reads the views and functions of schema kaspa, and sees nothing else. Its logins are made by `kasgres analysts`, with limits,
-- which the indexer enforces: it has the rights of each of these logins. After making one by hand, run this again.

begin;

-- Giving a table away waits for its readers, and whoever reads it later waits for that: better to fail after two seconds, which says
-- "canceling statement due to lock timeout", and to run this again.
set local lock_timeout = '2s';

do $$
declare
  role text;
begin
  foreach role in array array['kasgres_indexer', 'kasgres_api'] loop
    -- Roles belong to the whole server: another database may have them already.
    begin
      execute format('create role %I nologin', role);
    exception when duplicate_object or unique_violation then null;
    end;
    execute format('grant connect on database %I to %I', current_database(), role);
    execute format('grant usage on schema public to %I', role);
  end loop;
end $$;

-- Who gives tables away must be a member of the role that gets them; and so migrations can go on changing them.
grant kasgres_indexer to current_user;

revoke create on schema public from public;
grant create on schema public to kasgres_indexer;

do $$
declare
  keys_and_use text[] := array['api_keys', 'api_key_usage', 'rate_limits'];
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
    if name <> all (keys_and_use || analysts || tags || array['migrations'])
      and not exists (select from pg_tables where schemaname = 'public' and tablename = name and tableowner = 'kasgres_indexer') then
      execute format('alter table %I owner to kasgres_indexer', name);
    end if;
  end loop;
end $$;

grant insert, update on api_key_usage to kasgres_api;
grant insert, update, delete on rate_limits to kasgres_api;

select admit_analysts();
select close_databases_to_analysts();

commit;
