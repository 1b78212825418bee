-- Which lanes use the most gas?
--
-- Accepted transactions of user lanes by namespace, the gas that they commit to, and their fees. An
-- application that runs on a lane is one row, however many people use it.

select namespace, transaction_count, gas, fees_kas, first_seen, last_seen
from kaspa.lanes
order by gas desc, namespace
limit 20;
