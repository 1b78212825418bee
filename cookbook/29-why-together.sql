-- Why are these addresses in one cluster?
--
-- The latest merges of the cluster with the most addresses. Each joined two groups because one
-- transaction spends from both; look at the transaction to judge it. Replace the cluster by the one
-- you mean.

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
