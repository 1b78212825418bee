-- Fixes that need a change of the schema: hourly balances on the chain's own clock, limits of keys, variants of transactions.

-- All locks that shut readers out, before anything that takes long: what waits for one has lost nothing, and is tried again. In the order in which the
-- indexer takes them.
lock table checkpoint, transactions, block_transactions, transaction_bodies, transaction_body_inputs, subnetworks, starts, balances, balance_changes,
  seen_before, network_intervals, api_keys, rate_limits in access exclusive mode;

-- Balances by hour -----------------------------------------------------------------------------------------------------------

-- Hours are those of chain_time, which never goes back, so that the sum of all hours up to one is what the script held at its end, and never negative.
comment on table balance_changes is 'By how much each script''s balance changed in each hour: the sum up to an hour is the balance at its end, and never negative. Hours in which nothing changed have no row, or 0. In the hour of a start, what the script holds there beyond its balance before is a change too: what is before the start is not known.';
comment on column balance_changes.hour is 'Hours since 1970 (UTC), by chain_time of the accepting block.';

create table start_balances (
  chain_index bigint not null,
  script_id bigint not null,
  balance bigint not null,
  constraint start_balances_pkey primary key (chain_index, script_id)
);
comment on table start_balances is 'What each script held at each start before the latest, whose own UTXO set is start_utxos: with it, everything that counts from starts can be computed from rows.';
comment on column start_balances.chain_index is 'starts.chain_index.';
comment on column start_balances.script_id is 'The script.';
comment on column start_balances.balance is 'Sum of its UTXOs in the UTXO set of that start, sompi; scripts without any have no row.';

-- UTXO sets of earlier starts are gone, but the hours say what each script held there. Where they cannot be right, since two starts were in one hour or
-- a first catch-up ended twice, a script held at least what it spent later.
insert into start_balances (chain_index, script_id, balance)
with openings as (
  select s.chain_index, s.utxo_count, c.timestamp / 3600000 as hour, lead(s.chain_index) over (order by s.chain_index) as next_index
    from starts s join chain_blocks c on c.index = s.chain_index),
lost as (select * from openings where next_index is not null and utxo_count > 0),
touches as materialized (
  select listed.index, listed.timestamp / 3600000 as hour, listed.chain_time / 3600000 as chain_hour, a.script_id,
         a.amount_received - a.amount_sent as change
    from (select c.index, c.timestamp, c.chain_time, unnest(c.accepted_transactions) as transaction_id from chain_blocks c
           where exists (select from lost)) listed
    join address_transactions a on a.transaction_id = listed.transaction_id),
told as (
  select l.chain_index, said.script_id, said.change from lost l join balance_changes said on said.hour <= l.hour
   where not exists (select from openings o where o.chain_index > l.chain_index and o.hour <= l.hour)
  union all
  select l.chain_index, t.script_id, -t.change from lost l join touches t on t.index > l.chain_index and t.hour <= l.hour
   where not exists (select from openings o where o.chain_index > l.chain_index and o.hour <= l.hour)),
spent as (
  select chain_index, script_id, -min(running) as balance
    from (select l.chain_index, t.script_id, sum(sum(t.change)) over (partition by l.chain_index, t.script_id order by t.chain_hour) as running
            from lost l join touches t on t.index > l.chain_index and t.index <= l.next_index
           group by l.chain_index, t.script_id, t.chain_hour) hourly
   group by chain_index, script_id)
select chain_index, script_id, greatest(held.balance, spent.balance)
  from (select chain_index, script_id, sum(change) as balance from told group by chain_index, script_id) held
  full join spent using (chain_index, script_id)
 where greatest(held.balance, spent.balance) > 0
 order by chain_index, script_id;

-- A start whose first catch-up did not end never had hours, so nothing but a lower bound is left of what its scripts held.
alter table starts add column balances_known boolean not null default true;
comment on column starts.balances_known is 'Whether start_utxos, or start_balances after a later start, has all that scripts held there. False only for starts that version 0.1.0 recorded and whose first catch-up it did not end.';
update starts s set balances_known = false
 where chain_index < (select max(chain_index) from starts)
   and utxo_sompi <> (select coalesce(sum(b.balance), 0) from start_balances b where b.chain_index = s.chain_index);

-- What comes after a start counts from its UTXO set. So the next start takes away, in its hour, all that counted since the one before it.
create function make_balance_changes() returns void language plpgsql set search_path = public as $$
begin
  delete from balance_changes;
  insert into balance_changes (script_id, hour, change)
  with latest as (
    select c.index, (c.chain_time / 3600000)::integer as hour
      from starts s join chain_blocks c on c.index = s.chain_index order by c.index desc limit 1),
  changes as (
    select u.script_id, latest.hour, u.amount as change from start_utxos u, latest
    union all
    select a.script_id, (c.chain_time / 3600000)::integer, a.amount_received - a.amount_sent
      from chain_blocks c
      join transactions t on t.accepting_block_id = c.block_id
      join address_transactions a on a.transaction_id = t.id
     where c.index > (select index from latest))
  select script_id, hour, sum(change) from changes
   group by script_id, hour
  having sum(change) <> 0
   order by script_id, hour;
  if (select count(*) from starts) < 2 then return; end if;

  insert into balance_changes (script_id, hour, change)
  with parts as (
    select s.chain_index, c.chain_time / 3600000 as hour, lead(s.chain_index) over by_index as next_index,
           lead(c.chain_time) over by_index / 3600000 as next_hour
      from starts s join chain_blocks c on c.index = s.chain_index
    window by_index as (order by s.chain_index)),
  counted as (
    select b.script_id, p.hour, p.next_hour, b.balance as change
      from parts p join start_balances b on b.chain_index = p.chain_index and p.next_index is not null
    union all
    select a.script_id, listed.hour, listed.next_hour, a.amount_received - a.amount_sent
      from (select c.chain_time / 3600000 as hour, p.next_hour, unnest(c.accepted_transactions) as transaction_id
              from parts p join chain_blocks c on c.index > p.chain_index and c.index <= p.next_index) listed
      join address_transactions a on a.transaction_id = listed.transaction_id)
  select script_id, moved.hour::integer, sum(moved.change)
    from counted cross join lateral (values (counted.hour, counted.change), (counted.next_hour, -counted.change)) moved (hour, change)
   group by 1, 2
  having sum(moved.change) <> 0
   order by 1, 2
  on conflict (script_id, hour) do update set change = balance_changes.change + excluded.change;
end $$;
comment on function make_balance_changes() is 'Makes balance_changes from all rows. Idempotent.';

do $$ begin
  if (select coalesce(bool_or(first_catch_up), true) from checkpoint) then return; end if;
  truncate balance_changes;
  perform make_balance_changes();
end $$;

comment on column kaspa.address_hours.hour is 'Beginning of the hour (UTC), by chain_time of the accepting block. In the hour of a start of the index, what the address holds there beyond its balance before is a change too.';

-- From the end of the hour backwards, or from its beginning where a start comes later in it: only the sum up to its end has what such a start changes. What a block
-- accepted is told by its own list: a transaction that is accepted before a gap and again after it belongs to both blocks. The least and the greatest
-- id in these lists bound what is read of the address.
create or replace function kaspa.balance_at(address text, at timestamptz) returns numeric
language sql stable strict parallel safe security definer set search_path = pg_catalog, public, pg_temp as $$
  with moment as (
    select hour, is_forward,
           case when is_forward then to_timestamp(hour * 3600::double precision) else balance_at.at + interval '1 microsecond' end as first,
           case when is_forward then balance_at.at + interval '1 microsecond' else to_timestamp((hour + 1) * 3600::double precision) end as beyond
      from (select floor(extract(epoch from least(balance_at.at, '2200-01-01')) / 3600)::integer as hour) hours
     cross join lateral (
       select exists (
         select from starts s join chain_blocks c on c.index = s.chain_index
          where to_timestamp(c.chain_time / 1000::double precision) > balance_at.at
            and to_timestamp(c.chain_time / 1000::double precision) < to_timestamp((hour + 1) * 3600::double precision)) as is_forward) starting
  ), script as (
    select s.id from scripts s where s.address = balance_at.address
  ), others as materialized (
    select unnest(c.accepted_transactions) as id from moment, chain_blocks c
     where to_timestamp(c.chain_time / 1000::double precision) >= moment.first
       and to_timestamp(c.chain_time / 1000::double precision) < moment.beyond
  ), bounds as materialized (
    select min(id) as first, max(id) as last from others
  )
  select case when exists (select from checkpoint where not first_catch_up) and balance_at.at >= (
                select to_timestamp(c.chain_time / 1000::double precision) from chain_blocks c order by c.index limit 1)
    then coalesce((select sum(h.change) from moment, script, balance_changes h
                    where h.script_id = script.id and (h.hour < moment.hour or h.hour = moment.hour and not is_forward)), 0)
       + coalesce((select sum(a.amount_received - a.amount_sent)
                     from script, bounds, address_transactions a
                     join others on others.id = a.transaction_id
                    where a.script_id = script.id and a.transaction_id between bounds.first and bounds.last), 0)
         * (select case when is_forward then 1 else -1 end from moment)
  end
$$;
comment on function kaspa.balance_at(text, timestamptz) is 'Balance of an address, in sompi, after all that blocks with a chain_time up to this one accept. 0 for an address that never held a coin; null before the first block of the index and while it catches up for the first time. In a gap it is that of one of its ends.';

-- Sightings at starts --------------------------------------------------------------------------------------------------------

-- A start after a gap changes what it must, and what the history before it adds up to stays: a script is seen at a start only where the chain had not touched it before,
-- and then for good, also when a later start does not have its UTXOs any more.
create function first_holdings() returns table (script_id bigint, chain_index bigint, chain_time bigint) language sql stable as $$
  select held.script_id, held.chain_index, c.chain_time
    from (select holders.script_id, min(holders.chain_index) as chain_index
            from (select u.script_id, (select max(s.chain_index) from starts s) as chain_index from start_utxos u
                  union all
                  select b.script_id, b.chain_index from start_balances b) holders
           group by holders.script_id) held
    join chain_blocks c on c.index = held.chain_index
$$;
comment on function first_holdings() is 'The first start at which each script held UTXOs.';

create or replace function script_rollups() returns table (
  script_id bigint, accepted_count bigint, receiving_count bigint, sending_count bigint, coinbase_count bigint,
  received numeric, sent numeric, first_seen bigint, last_seen bigint)
language sql stable as $$
  select script_id, coalesce(t.accepted_count, 0), coalesce(t.receiving_count, 0), coalesce(t.sending_count, 0),
         coalesce(t.coinbase_count, 0), coalesce(t.received, 0), coalesce(t.sent, 0),
         least(t.first_touched, held.chain_time), coalesce(t.last_touched, held.chain_time)
    from (select a.script_id, count(*) as accepted_count, count(*) filter (where a.amount_received > 0) as receiving_count,
                 count(*) filter (where a.amount_sent > 0) as sending_count,
                 count(*) filter (where accepted.is_coinbase and a.amount_received > 0) as coinbase_count,
                 sum(a.amount_received) as received, sum(a.amount_sent) as sent,
                 min(accepted.chain_time) as first_touched, max(accepted.chain_time) as last_touched
            from accepted_by_chain() accepted join address_transactions a on a.transaction_id = accepted.transaction_id
           group by a.script_id) t
    full join first_holdings() held using (script_id)
$$;
comment on function script_rollups() is 'What balances sums up of accepted transactions, of every script that has any or that held UTXOs at a start; from all rows.';

create or replace function make_network_intervals() returns void language sql set search_path = public as $$
  delete from network_intervals;
  insert into network_intervals (length, start, chain_blocks, blocks, red_blocks, transactions, fees, volume, minted, supply,
                                 active_scripts, new_scripts, work)
  with touches as (
    select accepted.chain_index, accepted.chain_time, accepted.is_coinbase, a.amount_received as received,
           a.amount_sent as sent,
           lag(accepted.chain_time) over (partition by a.script_id order by accepted.chain_index) as seen_before,
           held.script_id is not null as was_held
      from accepted_by_chain() accepted
      join address_transactions a on a.transaction_id = accepted.transaction_id
      left join first_holdings() held on held.script_id = a.script_id and held.chain_index < accepted.chain_index),
  acceptance as (
    select chain_index, coalesce(sum(sent - received) filter (where not is_coinbase), 0) as fees,
           coalesce(sum(received) filter (where not is_coinbase), 0) as volume,
           sum(received - sent) as minted,
           count(*) filter (where seen_before is null or seen_before / 60000 < chain_time / 60000) as minute,
           count(*) filter (where seen_before is null or seen_before / 3600000 < chain_time / 3600000) as hour,
           count(*) filter (where seen_before is null or seen_before / 86400000 < chain_time / 86400000) as day,
           count(*) filter (where seen_before is null and not was_held) as new_scripts
      from touches group by chain_index),
  counted as (select chain_index, count(*) as transactions from accepted_by_chain() where not is_coinbase group by chain_index),
  -- What a start merges is before it, unless it was made on a chain block that was there.
  bare_starts as (
    select s.chain_index from starts s join blocks b on b.id = s.block_id
     where s.chain_index = (select min(index) from chain_blocks) or b.hash in (select before_block_hash from gaps)),
  merging as (
    select merged.chain_index, count(*) as blocks, count(*) filter (where merged.is_red) as red_blocks, sum(works.work) as work
      from (select c.index as chain_index, unnest(b.merge_set_blues) as id, false as is_red
              from chain_blocks c join blocks b on b.id = c.block_id
            union all
            select c.index, unnest(b.merge_set_reds), true from chain_blocks c join blocks b on b.id = c.block_id) merged
      join blocks b on b.id = merged.id
      join (select bits, work_of_bits(bits) as work from (select distinct bits from blocks) used) works using (bits)
     where merged.chain_index not in (select chain_index from bare_starts)
     group by merged.chain_index),
  stretches as (select chain_index, utxo_sompi, lead(chain_index) over (order by chain_index) as next_index from starts),
  chain as (
    select c.index, c.chain_time, coalesce(m.blocks, 0) as blocks, coalesce(m.red_blocks, 0) as red_blocks, coalesce(m.work, 0) as work,
           coalesce(t.transactions, 0) as transactions, coalesce(a.fees, 0) as fees, coalesce(a.volume, 0) as volume,
           coalesce(a.minted, 0) as minted, coalesce(a.minute, 0) as minute, coalesce(a.hour, 0) as hour, coalesce(a.day, 0) as day,
           coalesce(a.new_scripts, 0) as new_scripts,
           s.utxo_sompi + sum(case when c.index > s.chain_index then coalesce(a.minted, 0) else 0 end)
             over (partition by s.chain_index order by c.index) as supply
      from chain_blocks c
      join stretches s on c.index >= s.chain_index and (c.index < s.next_index or s.next_index is null)
      left join acceptance a on a.chain_index = c.index
      left join counted t on t.chain_index = c.index
      left join merging m on m.chain_index = c.index)
  select l.length, c.chain_time - c.chain_time % l.milliseconds, count(*), sum(c.blocks), sum(c.red_blocks), sum(c.transactions),
         sum(c.fees), sum(c.volume), sum(c.minted), (array_agg(c.supply order by c.index desc))[1],
         sum(case l.length when 'minute' then c.minute when 'hour' then c.hour else c.day end), sum(c.new_scripts), sum(c.work)
    from chain c
   cross join (values ('minute'::interval_length, 60000), ('hour', 3600000), ('day', 86400000)) l (length, milliseconds)
   group by 1, 2
   order by 1, 2
$$;

do $$ begin
  if (select count(*) from starts) > 1 and not (select coalesce(bool_or(first_catch_up), true) from checkpoint) then
    insert into balances (script_id, balance, utxo_count, transaction_count, first_seen, last_seen, is_tagged)
    select r.script_id, 0, 0, 0, r.first_seen, r.last_seen,
           r.script_id in (select s.id from scripts s join tags t on t.address = s.address)
      from script_rollups() r order by r.script_id
    on conflict (script_id) do update set first_seen = excluded.first_seen, last_seen = excluded.last_seen;
    perform make_network_intervals();
    -- Reorgs look up what it does not say.
    truncate seen_before;
  end if;
end $$;

comment on column checkpoint.first_catch_up is 'True while catching up from the first start: utxos, balances and circulating_sompi are not kept and the indexes in deferred_indexes are not built. Not after a gap.';
comment on table balances is 'What every script sums up to at the checkpoint (invariant 4): one row for each script of address_transactions, of start_utxos and of start_balances.';
comment on column balances.first_seen is 'chain_blocks.chain_time of the first block on the chain that accepts a transaction that touches it, or of the first start when it held UTXOs there before; null while there is none.';
comment on column balances.last_seen is 'chain_blocks.chain_time of the last block on the chain that accepts a transaction that touches it; first_seen while there is none. What happened in a gap is not seen.';
comment on column kaspa.addresses.first_seen is 'chain_time of the first block that accepts a transaction that touches it, or of the first start of the index when it held UTXOs there before; null while there is none.';
comment on column kaspa.addresses.last_seen is 'chain_time of the last block that accepts a transaction that touches it; first_seen while there is none. What happened in a gap is not seen.';
comment on column kaspa.index_status.first_catch_up is 'True while the index catches up from its first start: coins, balances and rollups are not there yet, and filters are slow. Not after a gap.';

-- Keys and limits ------------------------------------------------------------------------------------------------------------

alter table api_keys
  add column concurrency integer not null default 128 constraint api_keys_concurrency check (concurrency > 0),
  add column read_only boolean not null default false;
comment on column api_keys.concurrency is 'Requests that may be in flight at once, in each API process.';
comment on column api_keys.read_only is 'Whether submitting transactions and blocks is forbidden.';

-- The windows are counted by our own statement now. Those that run may be forgotten: they were those of a library.
truncate rate_limits;
alter table rate_limits
  alter column key type text,
  alter column points drop default,
  alter column points type bigint,
  alter column expire set not null;
comment on table rate_limits is 'Windows of rate limits, where API processes share them (RATE_LIMIT_STORE=postgres).';
comment on column rate_limits.key is 'The bucket that is limited: `key:` and the id of a key.';
comment on column rate_limits.points is 'Charged in the window: hundredths of a request unit.';
comment on column rate_limits.expire is 'End of the window by the clock of the database, Unix milliseconds.';

-- Transaction variants -------------------------------------------------------------------------------------------------------

-- A miner may put another variant of one transaction id into every block, so their number is bounded by the number of blocks only. The number of a
-- variant was a smallint, and variant 32,768 of one id ended every index for good.
--
-- Numbers of subnetworks have the same end further away: a lane is any transaction's to name, so 2^31 of them take some weeks of full blocks.
--
-- A wider column makes Postgres write transactions and block_transactions anew, once. The alternatives are worse: a bound would leave blocks whose rows
-- do not hash to their merkle root any more, and a second column for large numbers would burden every query from now on. No index of before this
-- version can be large: none of them could begin on mainnet.
do $$
declare
  dependent record;
  definitions text[] := '{}';
  definition text;
begin
  -- A column that a view reads cannot change its type: such views read nothing until that is done. They stay what they are, with comments and rights.
  for dependent in
    select v.oid::regclass as name, pg_get_viewdef(v.oid) as definition,
           (select string_agg(format('null::%s as %I', format_type(c.atttypid, c.atttypmod), c.attname), ', ' order by c.attnum)
              from pg_attribute c where c.attrelid = v.oid and c.attnum > 0 and not c.attisdropped) as nothing
      from pg_class v
     where v.relkind = 'v' and v.oid in (
       select r.ev_class
         from pg_depend d
         join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
         join pg_rewrite r on r.oid = d.objid and d.classid = 'pg_rewrite'::regclass
        where d.refclassid = 'pg_class'::regclass
          and (d.refobjid, a.attname) in (('transactions'::regclass, 'accepted_body'), ('block_transactions'::regclass, 'body'),
                                          ('transaction_bodies'::regclass, 'body'), ('transaction_body_inputs'::regclass, 'body'),
                                          ('transactions'::regclass, 'subnetwork_id'), ('subnetworks'::regclass, 'id')))
  loop
    definitions := definitions || format('create or replace view %s as %s', dependent.name, dependent.definition);
    execute format('create or replace view %s as select %s', dependent.name, dependent.nothing);
  end loop;

  alter table transactions alter column accepted_body type integer, alter column subnetwork_id type bigint;
  alter table block_transactions alter column body type integer;
  alter table transaction_bodies alter column body type integer;
  alter table transaction_body_inputs alter column body type integer;
  alter table subnetworks alter column id type bigint;
  alter table checkpoint alter column next_subnetwork_id type bigint;

  foreach definition in array definitions loop
    execute definition;
  end loop;
end $$;

-- Times before the index -----------------------------------------------------------------------------------------------------

create table earlier_times (
  daa_score bigint not null,
  timestamp bigint not null,
  constraint earlier_times_pkey primary key (daa_score)
);
comment on table earlier_times is 'When the chain had some DAA scores before the first indexed block, as a node estimates it: about a thousand, replaced by each run of the indexer.';
comment on column earlier_times.daa_score is 'A DAA score between genesis and the first indexed block.';
comment on column earlier_times.timestamp is 'Its time, Unix milliseconds. Never less than that of a lower score.';

-- Everything else ------------------------------------------------------------------------------------------------------------

-- Analysts are kept from what Postgres lets everybody do, also where the owner of the database is no superuser, and from other databases.
create or replace function admit_analysts() returns void language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  program text;
  each_function regprocedure;
  each_login text;
  may_revoke boolean;
  is_open boolean := false;
  is_missing boolean := false;
  -- Who keeps what everybody had: the programs, and who migrates.
  programs constant text := (
    select string_agg(quote_ident(rolname), ', ') from pg_roles
     where rolname in ('kasgres_indexer', 'kasgres_api', current_user)
        or oid = (select datdba from pg_database where datname = current_database())
  );
begin
  begin
    create role kasgres_analyst nologin;
  exception when duplicate_object or unique_violation then null;
  end;
  revoke all on all tables in schema public from kasgres_analyst;
  revoke all on schema public from kasgres_analyst;
  execute format('grant connect on database %I to kasgres_analyst', current_database());
  grant usage on schema kaspa to kasgres_analyst;
  grant select on all tables in schema kaspa to kasgres_analyst;
  alter default privileges in schema kaspa grant select on tables to kasgres_analyst;

  -- Who has the rights of a login sees how long its statements take, and may end them. For logins that kasgres analysts has not made.
  if exists (select from pg_roles where rolname = 'kasgres_indexer') then
    for each_login in
      select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.member
       where m.roleid = 'kasgres_analyst'::regrole and r.rolcanlogin and not r.rolsuper and not r.rolcreaterole
    loop
      begin
        execute format('grant %I to kasgres_indexer', each_login);
      exception when insufficient_privilege then
        -- A login of another database of this server, which belongs to another owner.
        null;
      end;
    end loop;
  end if;

  execute format('revoke temporary on database %I from public', current_database());
  revoke all on schema public from public;
  for program in select rolname from pg_roles where rolname in ('kasgres_indexer', 'kasgres_api') loop
    execute format('grant usage on schema public to %I', program);
  end loop;

  -- Postgres lets everybody make large objects, take the locks that the programs take, write to the WAL, write a file for each snapshot they
  -- export, use up transaction ids, and run loops on the server. Only the owner of these functions can take that away; REVOKE by others
  -- is a mere warning.
  may_revoke := pg_has_role((select proowner from pg_proc where oid = 'pg_catalog.lo_create(oid)'::regprocedure), 'usage');
  for each_function in
    select oid::regprocedure from pg_proc
     where pronamespace = 'pg_catalog'::regnamespace
       and proname ~ '^(lo_.*|loread|lowrite|pg_(try_)?advisory_.*|pg_logical_emit_message|pg_export_snapshot|pg_current_xact_id|txid_current)$'
  loop
    if may_revoke then
      execute format('revoke execute on function %s from public', each_function);
      execute format('grant execute on function %s to %s', each_function, programs);
    else
      is_open := is_open or has_function_privilege('public', each_function, 'execute');
      is_missing := is_missing or exists (
        select from pg_roles where rolname in ('kasgres_indexer', 'kasgres_api') and not has_function_privilege(oid, each_function, 'execute'));
    end if;
  end loop;
  if may_revoke then
    revoke usage on language plpgsql from public;
    execute format('grant usage on language plpgsql to %s', programs);
  end if;
  if is_open then
    raise warning '%', format('analysts can fill the disk with large objects, take advisory locks and run loops in database %I. A superuser can prevent it: psql -d %I -c "select admit_analysts()"', current_database(), current_database());
  elsif is_missing then
    raise warning '%', format('the indexer and the API may not take advisory locks in database %I. A superuser must let them: psql -d %I -c "select admit_analysts()"', current_database(), current_database());
  end if;
end $$;
comment on function admit_analysts() is 'Makes the role kasgres_analyst, which sees schema kaspa and nothing else, and takes from everybody what it must not have. Can be repeated.';

-- Kasgres has no large objects. Where the user who migrates may, nobody else can make them from now on: the logins of `kasgres sql` neither.
do $$
declare
  each_function regprocedure;
begin
  if not pg_has_role((select proowner from pg_proc where oid = 'pg_catalog.lo_create(oid)'::regprocedure), 'usage') then
    return;
  end if;
  for each_function in
    select oid::regprocedure from pg_proc
     where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^(lo_.*|loread|lowrite)$'
  loop
    execute format('revoke execute on function %s from public', each_function);
  end loop;
end $$;

create function close_databases_to_analysts() returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  each_database text;
  may_revoke boolean;
  still_open text[] := '{}';
begin
  -- Everybody may connect to a database unless its owner revoked that, and make temporary tables and large objects there without a limit.
  for each_database, may_revoke in
    select d.datname, pg_has_role(d.datdba, 'usage') from pg_database d
     where d.datallowconn and d.datname <> current_database()
       and exists (select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
                    where a.grantee = 0 and a.privilege_type = 'CONNECT')
       -- Another index of Kasgres, which was given to analysts.
       and not exists (select from aclexplode(d.datacl) a join pg_roles r on r.oid = a.grantee where r.rolname = 'kasgres_analyst')
     order by d.datname
  loop
    begin
      -- Databases for applications are not ours to close.
      if may_revoke and each_database in ('postgres', 'template1') then
        execute format('revoke connect, temporary on database %I from public', each_database);
      else
        still_open := still_open || each_database;
      end if;
    exception when internal_error then
      -- Another session closes it at this moment.
      null;
    end;
  end loop;
  if still_open <> '{}' then
    raise warning '%', format('analysts can connect to other databases of this server (%s), and fill the disk there. Their owner or a superuser can prevent it: %s',
      array_to_string(still_open, ', '),
      (select string_agg(format('revoke connect, temporary on database %I from public;', name), ' ') from unnest(still_open) name));
  end if;
end $$;
comment on function close_databases_to_analysts() is 'Takes from everybody the right to connect to the databases postgres and template1, and warns of others that analysts can connect to. Can be repeated.';
revoke execute on function close_databases_to_analysts() from public;
