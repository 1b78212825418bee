-- Which groups of addresses that belong together hold most?
--
-- Clusters of addresses that signed transactions together, with the name where one is known. A cluster is a guess with a reason (the next
-- question shows it): owners have more addresses than their clusters, and a transaction of several people would join strangers.

select
  cluster,
  name,
  size,
  balance_kas,
  round(100 * balance_kas / (select circulating_kas from kaspa.index_status), 4) as percent_of_supply
from kaspa.clusters
order by balance_sompi desc
limit 10;
