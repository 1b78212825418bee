-- Why are these addresses together?
--
-- The latest merges of the cluster with most addresses: each joined two groups, since a transaction spends coins of both. Anybody can look at
-- the transaction and judge. Put in the cluster that you mean.

with asked as (
  select cluster from kaspa.clusters order by size desc limit 1
),
latest as materialized (
  select id from kaspa.cluster_merges where cluster = (select cluster from asked) order by id desc limit 10
)
select transaction_id, address, merged_address, merged_cluster
from latest
  join kaspa.cluster_merges using (id)
order by id desc;
