-- Which templates are used most?
--
-- Templates by the number of accepted inputs that revealed a program of each, or spent it as a bare
-- script: programs with the same opcodes, and any pushes. A contract that keeps its state in the
-- script has a new program for each state, so many programs may be one contract. Names are claims,
-- since look-alikes have the same template.

select template, array_to_string(names, ', ') as names, spend_count, program_count, covenant_count, first_seen
from kaspa.program_templates
order by spend_count desc, template
limit 20;
