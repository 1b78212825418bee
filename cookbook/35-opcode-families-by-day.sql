-- Which families of opcodes do programs use?
--
-- Accepted inputs by day that revealed a program with opcodes of each family, or spent such a bare
-- script. A program of several families counts for each. It has the opcodes; whether a spend ran
-- them cannot be seen in its bytes.

select
  (date_trunc('day', hour, 'UTC') at time zone 'UTC')::date as day,
  coalesce(sum(spends) filter (where use = 'introspection'), 0)::bigint as introspection,
  coalesce(sum(spends) filter (where use = 'covenants'), 0)::bigint as covenants,
  coalesce(sum(spends) filter (where use = 'sequencing'), 0)::bigint as sequencing,
  coalesce(sum(spends) filter (where use = 'groth16'), 0)::bigint as groth16,
  coalesce(sum(spends) filter (where use = 'risc0'), 0)::bigint as risc0,
  coalesce(sum(spends) filter (where use = 'unknownZk'), 0)::bigint as unknown_zk
from kaspa.program_use_hours
group by 1
order by day desc
limit 30;
