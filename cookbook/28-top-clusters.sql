-- Which clusters hold the most?
--
-- Clusters of addresses that signed transactions together, with their name, if known. A cluster is
-- a conclusion from evidence (see the next query): owners usually have more addresses than their
-- cluster, and a joint transaction of several people may connect strangers.

select
  cluster,
  name,
  size,
  balance_kas,
  round(100 * balance_kas / (select circulating_kas from kaspa.index_status), 4) as percent_of_supply
from kaspa.clusters
order by balance_sompi desc
limit 10;
