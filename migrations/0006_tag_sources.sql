-- Who says so: what each source says of an address. Of several, tags has what is said with the most confidence.

create table tag_sources (
  id bigint generated always as identity,
  name text not null,
  title text not null default '',
  creator text not null default '',
  imported_at timestamptz not null default now(),
  constraint tag_sources_pkey primary key (id)
);
create unique index tag_sources_name on tag_sources (name);
comment on table tag_sources is 'Files and people that tags came from.';
comment on column tag_sources.id is 'Key.';
comment on column tag_sources.name is 'Name by which it is imported again, updated and removed.';
comment on column tag_sources.title is 'Its title, as it says.';
comment on column tag_sources.creator is 'Who made it, as it says.';
comment on column tag_sources.imported_at is 'When it was last imported.';

create table attributions (
  source_id bigint not null,
  address text not null,
  name text not null,
  link text not null default '',
  labels text[] not null default '{}',
  category text,
  confidence text,
  confidence_level smallint not null,
  last_modified date,
  constraint attributions_pkey primary key (source_id, address, name)
);
create index attributions_address on attributions (address);
comment on table attributions is 'What each source says of an address.';
comment on column attributions.source_id is 'tag_sources.id.';
comment on column attributions.address is 'The address.';
comment on column attributions.name is 'Name of its owner.';
comment on column attributions.link is 'Where to read more; empty when there is nothing.';
comment on column attributions.labels is 'What kind of owner it is.';
comment on column attributions.category is 'Category, as the source says; null when it says none.';
comment on column attributions.confidence is 'How the source knows, in its words; null when it does not say.';
comment on column attributions.confidence_level is 'The same from 0 to 100.';
comment on column attributions.last_modified is 'When it was last changed, as the source says; null when it does not.';

insert into tag_sources (name, title) select 'manual', 'Written before sources were kept' where exists (select from tags);
insert into attributions (source_id, address, name, link, labels, confidence_level)
select s.id, t.address, t.name, t.link, t.labels, 50 from tags t cross join tag_sources s where s.name = 'manual';
comment on table tags is 'The tag of each address: of what its sources say (attributions) that with the most confidence, then the latest, then by the name of the source.';

alter table tags add column confidence_level smallint not null default 50;
comment on column tags.confidence_level is 'attributions.confidence_level of what it says.';

create table cluster_labels (
  cluster_id bigint not null,
  label text not null,
  addresses bigint not null,
  constraint cluster_labels_pkey primary key (cluster_id, label)
);
comment on table cluster_labels is 'Labels that the tags of a cluster''s members have.';
comment on column cluster_labels.cluster_id is 'clusters.id.';
comment on column cluster_labels.label is 'One of tags.labels.';
comment on column cluster_labels.addresses is 'Number of members with a tag that has it.';

create table cluster_links (
  cluster_id bigint not null,
  confidence_level smallint not null,
  link text not null,
  addresses bigint not null,
  constraint cluster_links_pkey primary key (cluster_id, confidence_level, link)
);
create index cluster_links_best on cluster_links (cluster_id, confidence_level desc, addresses desc, link collate "C");
comment on table cluster_links is 'Links that the tags of a cluster''s members have.';
comment on column cluster_links.cluster_id is 'clusters.id.';
comment on column cluster_links.confidence_level is 'tags.confidence_level.';
comment on column cluster_links.link is 'tags.link, other than the empty one.';
comment on column cluster_links.addresses is 'Number of members with a tag of both.';

-- By the statement: an import of many tags would wait for a trigger on each row. In the order of the index: each of its pages is then
-- read and written once.
drop trigger tags_keep_labels on tags;
create or replace function keep_tag_labels() returns trigger language plpgsql set search_path = public as $$
begin
  if tg_op <> 'INSERT' then
    delete from tag_labels l using (
      select label, name collate "C" as name, address collate "C" as address from gone, unnest(labels) as label order by 1, 2, 3
    ) gone_labels
     where l.label = gone_labels.label and l.name = gone_labels.name and l.address = gone_labels.address;
  end if;
  if tg_op <> 'DELETE' then
    insert into tag_labels (label, name, address)
    select distinct on (1, 2, 3) label, name collate "C", address collate "C" from made, unnest(labels) as label order by 1, 2, 3;
  end if;
  return null;
end $$;
create trigger tags_keep_labels_inserted after insert on tags referencing new table as made for each statement execute function keep_tag_labels();
create trigger tags_keep_labels_updated after update on tags referencing old table as gone new table as made for each statement execute function keep_tag_labels();
create trigger tags_keep_labels_deleted after delete on tags referencing old table as gone for each statement execute function keep_tag_labels();
