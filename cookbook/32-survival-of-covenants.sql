-- How long do covenants live, by template?
--
-- Covenants by the template of their last known program, and the share of those created at least an
-- hour, a day and a week ago that lived so long. Without a template are those of which no spend has
-- revealed a program yet. Only complete covenants count: nobody knows when the others began, or
-- whether they ended in a gap. Names are claims, since look-alikes have the same template.

with latest as (
  select chain_time from kaspa.chain_blocks order by index desc limit 1
),
lives as (
  select
    template,
    is_live,
    chain_time - first_seen as age,
    case when is_live then chain_time else last_seen end - first_seen as lived
  from kaspa.covenants, latest
  where is_complete
),
counted as (
  select
    template,
    count(*) as covenants,
    count(*) filter (where is_live) as live,
    round(100 * avg((lived >= '1 hour')::integer) filter (where age >= '1 hour'), 2) as lived_hour_percent,
    round(100 * avg((lived >= '1 day')::integer) filter (where age >= '1 day'), 2) as lived_day_percent,
    round(100 * avg((lived >= '7 days')::integer) filter (where age >= '7 days'), 2) as lived_week_percent
  from lives
  group by template
  order by covenants desc, template
  limit 20
)
select c.template, array_to_string(t.names, ', ') as names, covenants, live, lived_hour_percent, lived_day_percent, lived_week_percent
from counted c
  left join kaspa.program_templates t on t.template = c.template
order by covenants desc, template;
