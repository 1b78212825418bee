-- Clusters of scripts that common inputs tie together, as union-find that can be undone: a member points to a parent, the smaller
-- cluster below the larger one, without shortening of paths. Members of a cluster form a ring, so that two merge by four pointers.

drop table clusters, cluster_members;

create table clustering (
  one_row boolean not null default true,
  chain_index bigint not null,
  block_id bigint not null,
  next_merge_id bigint not null,
  next_held_merge_id bigint not null,
  updated_at timestamptz not null,
  constraint clustering_pkey primary key (one_row),
  constraint clustering_one_row check (one_row)
);
comment on table clustering is 'How far clustering is: one row, changed in the same transaction as the clusters. No row before its first step.';
comment on column clustering.one_row is 'Always true: keeps the table at one row.';
comment on column clustering.chain_index is 'chain_blocks.index of the last chain block whose accepted transactions are clustered.';
comment on column clustering.block_id is 'That block: when it has left the chain, clusters are undone down to what remains.';
comment on column clustering.next_merge_id is 'Key that the next merge gets.';
comment on column clustering.next_held_merge_id is 'Key that the next held merge gets.';
comment on column clustering.updated_at is 'When this row was written.';

create table clusters (
  id bigint not null,
  size bigint not null,
  balance bigint not null,
  size_limit bigint,
  name text,
  link text not null default '',
  labels text[] not null default '{}',
  constraint clusters_pkey primary key (id)
) with (fillfactor = 80);
comment on table clusters is 'Groups of two or more scripts that belong together by clustering.';
comment on column clusters.id is 'scripts.id of the member at the root: the same on every index of the same chain, by its address.';
comment on column clusters.size is 'Number of its members.';
comment on column clusters.balance is 'Sum of balances.balance of its members, sompi.';
comment on column clusters.size_limit is 'Up to which size it may grow, where a person has said so; null for the configured limit.';
comment on column clusters.name is 'Name of the owner: that of its members'' tags when these agree; null while nobody knows or they do not.';
comment on column clusters.link is 'Where to read more; empty when there is nothing.';
comment on column clusters.labels is 'What kind of owner it is: the labels of these tags.';
create index clusters_name on clusters (name) where name is not null;

create table cluster_members (
  script_id bigint not null,
  parent_id bigint,
  merge_id bigint,
  next_id bigint not null,
  previous_id bigint not null,
  constraint cluster_members_pkey primary key (script_id)
) with (fillfactor = 80);
comment on table cluster_members is 'Which script is in which cluster; a script is in one at most, and those that are in none have no row.';
comment on column cluster_members.script_id is 'The script.';
comment on column cluster_members.parent_id is 'The member above it in the tree of the cluster; null at the root, whose script is clusters.id.';
comment on column cluster_members.merge_id is 'The merge that put it below its parent; null at the root.';
comment on column cluster_members.next_id is 'The next member in the ring of the cluster.';
comment on column cluster_members.previous_id is 'The member before it in the ring.';

create table cluster_merges (
  id bigint not null,
  chain_index bigint not null,
  transaction_id bigint not null,
  cluster_id bigint not null,
  merged_cluster_id bigint not null,
  script_id bigint not null,
  merged_script_id bigint not null,
  held_merge_id bigint,
  size_limit bigint,
  merged_size_limit bigint,
  constraint cluster_merges_pkey primary key (id)
);
comment on table cluster_merges is 'Why scripts are together: every merge of two clusters (or single scripts), in order, with the transaction that has inputs of both.';
comment on column cluster_merges.id is 'Key, in the order of merging; undone from the last.';
comment on column cluster_merges.chain_index is 'clustering.chain_index with which it was made: the chain block that accepts the transaction, or a later one where the merge was held.';
comment on column cluster_merges.transaction_id is 'The transaction.';
comment on column cluster_merges.cluster_id is 'Root of the cluster that stayed: the larger one; of two of one size that of the earlier input.';
comment on column cluster_merges.merged_cluster_id is 'Root of the cluster that was put below it.';
comment on column cluster_merges.script_id is 'The input''s script on the side that stayed.';
comment on column cluster_merges.merged_script_id is 'The input''s script on the other side.';
comment on column cluster_merges.held_merge_id is 'The held merge that this one carries out; null otherwise.';
comment on column cluster_merges.size_limit is 'clusters.size_limit of the cluster that stayed, before; what undoing gives back.';
comment on column cluster_merges.merged_size_limit is 'clusters.size_limit of the other; null for a single script.';

create table held_merges (
  id bigint not null,
  chain_index bigint not null,
  transaction_id bigint not null,
  script_id bigint not null,
  other_script_id bigint not null,
  state text not null,
  settled_chain_index bigint,
  constraint held_merges_pkey primary key (id),
  constraint held_merges_state check (state in ('held', 'approved', 'merged', 'rejected')),
  constraint held_merges_settled check ((state = 'merged') = (settled_chain_index is not null))
);
create index held_merges_waiting on held_merges (state, id) where state in ('held', 'approved');
create index held_merges_transaction_id on held_merges (transaction_id);
create index held_merges_settled_chain_index on held_merges (settled_chain_index) where settled_chain_index is not null;
comment on table held_merges is 'Merges that would make a cluster larger than its limit, until a person has looked at it.';
comment on column held_merges.id is 'Key, in order.';
comment on column held_merges.chain_index is 'Chain block that accepts the transaction.';
comment on column held_merges.transaction_id is 'The transaction.';
comment on column held_merges.script_id is 'An input''s script.';
comment on column held_merges.other_script_id is 'Another input''s script, in another cluster.';
comment on column held_merges.state is 'held: waits for a person; approved: a person has raised a limit, and the indexer carries it out next, or holds it again; merged: carried out (or the two were together by then); rejected: never will be.';
comment on column held_merges.settled_chain_index is 'clustering.chain_index when it became merged; null otherwise.';

create table change_links (
  transaction_id bigint not null,
  script_id bigint not null,
  change_script_id bigint not null,
  chain_index bigint not null,
  constraint change_links_pkey primary key (transaction_id)
);
create index change_links_script_id on change_links (script_id, transaction_id);
create index change_links_change_script_id on change_links (change_script_id, transaction_id);
create index change_links_chain_index on change_links (chain_index);
comment on table change_links is 'What the weaker heuristic supposes, where it is switched on: which output of a transaction is its sender''s change. Never merged into clusters.';
comment on column change_links.transaction_id is 'The transaction.';
comment on column change_links.script_id is 'Script of its first input.';
comment on column change_links.change_script_id is 'Script of the output that is taken for change.';
comment on column change_links.chain_index is 'Chain block that accepts it.';

create table cluster_names (
  cluster_id bigint not null,
  name text not null,
  addresses bigint not null,
  constraint cluster_names_pkey primary key (cluster_id, name)
);
comment on table cluster_names is 'Names that the tags of a cluster''s members give it; more than one: they do not agree.';
comment on column cluster_names.cluster_id is 'clusters.id.';
comment on column cluster_names.name is 'tags.name.';
comment on column cluster_names.addresses is 'Number of members with a tag of that name.';

create table tag_marks (
  script_id bigint not null,
  at_script_id bigint not null,
  constraint tag_marks_pkey primary key (script_id)
);
comment on table tag_marks is 'Stretches of the rings of clusters along which balances.is_tagged is still to be set, since a name came or went, or members came to one.';
comment on column tag_marks.script_id is 'The member before which the stretch ends; the whole ring where both are the same.';
comment on column tag_marks.at_script_id is 'The next member to be marked.';

create function cluster_of(of_script_id bigint) returns bigint language sql stable strict parallel safe set search_path = public as $$
  with recursive up as (
    select m.script_id, m.parent_id from cluster_members m where m.script_id = of_script_id
    union all
    select m.script_id, m.parent_id from up join cluster_members m on m.script_id = up.parent_id
  )
  select script_id from up where parent_id is null
$$;
comment on function cluster_of(bigint) is 'clusters.id of the cluster that a script is in; null when it is in none. Some twenty look-ups at most, however large the cluster.';

update balances set is_tagged = exists (select from scripts s join tags t on t.address = s.address where s.id = balances.script_id)
 where is_tagged;
