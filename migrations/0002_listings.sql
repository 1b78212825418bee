-- What the listings and look-ups of the API stand on: every page of a listing is a range of one index, and what an address
-- sums up to is kept instead of counted.

-- An index whose entries are those of the listing: newest first by (transaction_id, index).
drop index if exists utxos_script_id;
delete from deferred_indexes where name = 'utxos_script_id';
create index utxos_script_id on utxos (script_id, transaction_id, index);

create index blocks_daa_score on blocks (daa_score);

alter table balances
  add column utxo_count bigint not null default 0,
  add column transaction_count bigint not null default 0,
  add column is_tagged boolean not null default false;
comment on table balances is 'What every script sums up to at the checkpoint (invariant 4): one row for each script of address_transactions.';
comment on column balances.balance is 'Sum of its unspent outputs, sompi.';
comment on column balances.utxo_count is 'Number of its unspent outputs.';
comment on column balances.transaction_count is 'Number of its rows in address_transactions: transactions that touch it, accepted or not.';
comment on column balances.is_tagged is 'Whether the address has a tag of its own or is in a cluster that has a name.';

insert into balances (script_id, balance, utxo_count, transaction_count)
select script_id, 0, sum(utxos), sum(transactions)
  from (select script_id, count(*) as utxos, 0 as transactions from utxos group by script_id
        union all
        select script_id, 0, count(*) from address_transactions group by script_id) counted
 where not (select coalesce(bool_or(first_catch_up), false) from checkpoint)
 group by script_id
on conflict (script_id) do update set utxo_count = excluded.utxo_count, transaction_count = excluded.transaction_count;
update balances set is_tagged = true
  from scripts
 where scripts.id = balances.script_id
   and (exists (select from tags where tags.address = scripts.address)
        or exists (select from cluster_members m join clusters c on c.id = m.cluster_id
                    where m.script_id = scripts.id and c.name is not null));

create index balances_balance on balances (balance desc, script_id desc) where balance > 0;
create index balances_tagged on balances (balance desc, script_id desc) where balance > 0 and is_tagged;

create table balance_changes (
  script_id bigint not null,
  hour integer not null,
  change bigint not null,
  constraint balance_changes_pkey primary key (script_id, hour)
);
comment on table balance_changes is 'By how much each script''s balance changed in each hour: the sum up to an hour is the balance at its end. Hours in which nothing changed have no row, or 0.';
comment on column balance_changes.script_id is 'The script.';
comment on column balance_changes.hour is 'Hours since 1970 (UTC), by the time of the accepting block.';
comment on column balance_changes.change is 'Sum of the net changes by transactions accepted in that hour, sompi.';
insert into balance_changes (script_id, hour, change)
select a.script_id, c.timestamp / 3600000, sum(a.amount_received - a.amount_sent)
  from address_transactions a
  join transactions t on t.id = a.transaction_id
  join chain_blocks c on c.block_id = t.accepting_block_id
 where not (select coalesce(bool_or(first_catch_up), false) from checkpoint)
 group by a.script_id, c.timestamp / 3600000
having sum(a.amount_received - a.amount_sent) <> 0;

create index tags_name on tags (name collate "C", address collate "C");

create table tag_labels (
  label text not null,
  name text collate "C" not null,
  address text collate "C" not null,
  constraint tag_labels_pkey primary key (label, name, address)
);
comment on table tag_labels is 'The labels of tags, one row each, in the order of the listing; kept by a trigger on tags.';
comment on column tag_labels.label is 'The label.';
comment on column tag_labels.name is 'tags.name.';
comment on column tag_labels.address is 'tags.address.';

-- A restore works with an empty search path.
create function keep_tag_labels() returns trigger language plpgsql set search_path = public as $$
begin
  if tg_op <> 'INSERT' then
    delete from tag_labels l using unnest(old.labels) as gone (label)
     where l.label = gone.label and l.name = old.name and l.address = old.address;
  end if;
  if tg_op <> 'DELETE' then
    insert into tag_labels (label, name, address) select distinct label, new.name, new.address from unnest(new.labels) as made (label);
  end if;
  return null;
end $$;
comment on function keep_tag_labels() is 'Keeps tag_labels in step with tags.';
create trigger tags_keep_labels after insert or update or delete on tags for each row execute function keep_tag_labels();
insert into tag_labels (label, name, address) select distinct label, name, address from tags, unnest(labels) as label;

-- Read and written at every request where API processes share their rate limits; worth nothing after a crash.
create unlogged table rate_limits (
  key varchar(255) not null,
  points integer not null default 0,
  expire bigint,
  constraint rate_limits_pkey primary key (key)
);
comment on table rate_limits is 'Windows of rate limits, where API processes share them (RATE_LIMIT_STORE=postgres). The form is that of the library rate-limiter-flexible.';
comment on column rate_limits.key is 'Whose window it is.';
comment on column rate_limits.points is 'Spent in the window: hundredths of a request unit.';
comment on column rate_limits.expire is 'End of the window, Unix milliseconds.';
