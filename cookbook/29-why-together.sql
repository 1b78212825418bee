-- Why are these addresses together?
--
-- The latest merges of the cluster with most addresses: each joined two groups, since a transaction spends coins of both. Anybody can look at
-- the transaction and judge. Put in the cluster that you mean.

with asked as (
  select cluster from kaspa.clusters order by size desc, cluster limit 1
)
select m.transaction_id, m.address, m.merged_address, m.merged_cluster
from kaspa.cluster_merges m
where m.cluster = (select cluster from asked)
order by m.id desc
limit 10;
