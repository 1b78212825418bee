-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- findOwnTag ------------------------------------------------------------------------------------------

-- findOwnTag of packages/database/src/tags/tags.ts
select
  "address",
  "name",
  "link",
  "labels"
from "tags"
where "address" = $1;

-- findClusterTag --------------------------------------------------------------------------------------

-- findClusterTag of packages/database/src/tags/tags.ts
select
  "clusters"."name",
  "clusters"."link",
  "clusters"."labels"
from
  "scripts"
  inner join "clusters" on "clusters"."id" = cluster_of (scripts.id)
where "scripts"."address" = $1;

-- listClustersAtLimit ---------------------------------------------------------------------------------

-- listClustersAtLimit of packages/database/src/clusters/cluster-reviews.ts
with
  held as (
    select
      h.id,
      h.transaction_id,
      h.transactions,
      coalesce(cluster_of (h.script_id), h.script_id) as one,
      coalesce(cluster_of (h.other_script_id), h.other_script_id) as other
    from held_merges h
    where h.state = 'held'
  ),
  sides as (
    select
      id,
      transaction_id,
      transactions,
      one as cluster_id,
      other as other_id
    from held
    union all
    select
      id,
      transaction_id,
      transactions,
      other,
      one
    from held
  ),
  sized as (
    select
      sides.*,
      coalesce(own.size, 1) as size,
      coalesce(others.size, 1) as other_size,
      own.size_limit
    from
      sides
      left join clusters own on own.id = sides.cluster_id
      left join clusters others on others.id = sides.other_id
  ),
  larger as (
    select distinct
      *
    from sized
    where
      (size, cluster_id) > (other_size, other_id)
      or cluster_id = other_id
  ),
  parts as (
    select
      cluster_id,
      other_id,
      max(other_size) as other_size
    from larger
    group by
      1,
      2
  )
select
  s.address,
  max(l.size) as size,
  max(l.size_limit) as size_limit,
  count(*) as held,
  sum(l.transactions)::bigint as transactions,
  max(l.size) + (
    select sum(other_size)
    from parts p
    where p.cluster_id = l.cluster_id
  )::bigint as size_with_held,
  (
    array_agg(
      t.transaction_id
      order by l.id
    ) filter (
      where t.id is not null
    )
  ) [1] as transaction_id
from
  larger l
  join scripts s on s.id = l.cluster_id
  left join transactions t on t.id = l.transaction_id
group by
  l.cluster_id,
  s.address
order by
  held desc,
  size desc,
  s.address collate "C";

-- approveCluster --------------------------------------------------------------------------------------

-- lockClusters of packages/database/src/clusters/cluster-reviews.ts
select
from
checkpoint
for update;

-- packages/database/src/clusters/cluster-reviews.ts
with
  held as (
    select
      h.id,
      h.transaction_id,
      h.transactions,
      coalesce(cluster_of (h.script_id), h.script_id) as one,
      coalesce(cluster_of (h.other_script_id), h.other_script_id) as other
    from held_merges h
    where h.state = 'held'
  ),
  sides as (
    select
      id,
      transaction_id,
      transactions,
      one as cluster_id,
      other as other_id
    from held
    union all
    select
      id,
      transaction_id,
      transactions,
      other,
      one
    from held
  ),
  sized as (
    select
      sides.*,
      coalesce(own.size, 1) as size,
      coalesce(others.size, 1) as other_size,
      own.size_limit
    from
      sides
      left join clusters own on own.id = sides.cluster_id
      left join clusters others on others.id = sides.other_id
  )
select
  c.id,
  c.size,
  c.size + coalesce(
    (
      select sum(other_size)
      from
        (
          select distinct
            other_id,
            other_size
          from sized
          where
            cluster_id = c.id
            and other_id <> c.id
        ) parts
    ),
    0
  )::bigint as size_with_held
from
  scripts s
  join clusters c on c.id = cluster_of (s.id)
where s.address = $1;

-- packages/database/src/clusters/cluster-reviews.ts
update clusters
set size_limit = $1
where id = $2;

-- packages/database/src/clusters/cluster-reviews.ts
update held_merges
set state = 'approved'
where
  state = 'held'
  and (
    cluster_of (script_id) = $1
    or cluster_of (other_script_id) = $2
  );

-- rejectHeldMerges ------------------------------------------------------------------------------------

-- lockClusters of packages/database/src/clusters/cluster-reviews.ts: in cluster.sql, approveCluster

-- packages/database/src/clusters/cluster-reviews.ts
update held_merges h
set state = 'rejected'
from transactions t
where
  (
    substring(
      t.transaction_id
      from 1 for 7
    ) = substring(
      decode('0000000000000000000000000000000000000000000000000000000000000000', 'hex')
      from 1 for 7
    )
    and t.transaction_id = decode('0000000000000000000000000000000000000000000000000000000000000000', 'hex')
  )
  and h.transaction_id = t.id
  and h.state in ('held', 'approved');
