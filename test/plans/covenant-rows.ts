/**
 * Covenants and programs of the large index. Two transactions in three found a covenant with their
 * first output, which nobody spends; a quarter of these count as ended. One in ten continues one of
 * 500 covenants with its second output, so that each of these has some 170 events. Half of all
 * covenants have one template.
 */

import { createHash } from 'node:crypto';

/** Keys of covenants of first outputs are those of their transactions above this one. */
const FIRST_FOUNDED = 1000;
const TEMPLATES = 1000;
const PROGRAMS = 200_000;
const NAMES = 500;

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex');

/** One of 500 with many events. */
export const BUSY_COVENANT = hashed('chain covenant 7');
export const COMMON_TEMPLATE = hashed('template 1');
export const SOME_TEMPLATE = hashed('template 2');
export const SOME_PROGRAM = hashed('program 100');
export const SOME_KCC_TEMPLATE = hashed('kcc template 0');

interface Rows {
  hashOf: (what: string, number: string) => string;
  placeOf: (t: string) => string;
  timeOf: (block: string) => string;
  dust: number;
}

const founds = (t: string, placeOf: Rows['placeOf']): string => `(${t} % 3 <> 0 and ${placeOf(t)} > 0)`;
const continues = (t: string, placeOf: Rows['placeOf']): string => `(${t} % 10 = 3 and ${placeOf(t)} > 0)`;
const hasEnded = (t: string): string => `(${t} % 4 = 0)`;
const chainOf = (t: string): string => `(${t} % 5000 / 10 + 1)`;

/** Selects the covenant of an output; null without one. */
export const covenantOf = (t: string, place: string, { hashOf, placeOf }: Rows): string => `case
  when ${place} = 0 and ${founds(t, placeOf)} then ${hashOf('covenant', t)}
  when ${place} = 1 and ${continues(t, placeOf)} then ${hashOf('chain covenant', chainOf(t))} end`;

/** Selects the covenant of a row `o` of outputs, if it is not to count as ended. */
export const heldCovenant = `case when not (o.index = 0 and ${hasEnded('o.transaction_id')}) then o.covenant_id end`;

export const covenantStatements = ({ hashOf, placeOf, timeOf, dust }: Rows): readonly string[] => [
  `insert into program_templates (id, program_count, spend_count, covenant_count, first_seen, template)
   select n, ${PROGRAMS / TEMPLATES}, n * 7919 % 100003, 0, ${timeOf('0')},
     ${hashOf('template', 'n')} from generate_series(1, ${TEMPLATES}) n`,
  `insert into programs (transaction_id, first_seen, spend_count, template_id, index, length, uses,
    is_bare, hash, kcc_template)
   select n * 5 + 1, ${timeOf('0')}, 1, 1 + n % ${TEMPLATES}, 0, 100, 3, false,
     ${hashOf('program', 'n')}, case when n % 10 = 0 then ${hashOf('kcc template', 'n / 1000')} end
   from generate_series(1, ${PROGRAMS}) n`,
  `insert into template_sources (name, checksum) values ('names.yaml', '')`,
  `insert into template_names (source_id, template, entry)
   select (select id from template_sources), ${hashOf('template', 'n')},
     jsonb_build_object('name', 'Name ' || n, 'source', 'https://example.com', 'pushes',
     '[]'::jsonb, 'required', '[]'::jsonb, 'seen', '[]'::jsonb)
   from generate_series(1, ${NAMES}) n`,
  `insert into covenant_events (covenant_id, chain_index, transaction_id, position, kind)
   select covenant, c.index, t, place - 1, kind
   from chain_blocks c cross join unnest(c.accepted_transactions)
     with ordinality accepted (t, place)
   cross join lateral (
     select ${FIRST_FOUNDED} + t as covenant, 'genesis'::covenant_event_kind as kind
       where ${founds('t', placeOf)}
     union all
     select ${chainOf('t')}, case when t < 5000 then 'genesis'
       else 'transition' end::covenant_event_kind where ${continues('t', placeOf)}) event
   order by c.index, place`,
  `insert into covenants (id, genesis_transaction_id, event_count, balance, first_seen, last_seen,
    utxo_count, template_id, is_complete, covenant_id)
   select e.covenant_id, min(t), count(*), case when bool_or(is_ended) then 0
     else ${dust} end, min(chain_time), max(chain_time),
     case when bool_or(is_ended) then 0 else 1 end, case when e.covenant_id % 2 = 0 then 1
       else 2 + e.covenant_id % ${TEMPLATES - 1} end,
     e.covenant_id % 50 <> 0,
     case when e.covenant_id > ${FIRST_FOUNDED}
       then ${hashOf('covenant', `e.covenant_id - ${FIRST_FOUNDED}`)}
       else ${hashOf('chain covenant', 'e.covenant_id')} end
   from (
     select e.covenant_id, e.transaction_id as t, c.chain_time, e.covenant_id > ${FIRST_FOUNDED}
       and ${hasEnded('e.transaction_id')} as is_ended
     from covenant_events e join chain_blocks c on c.index = e.chain_index) e
   group by e.covenant_id order by e.covenant_id`,
  `insert into covenant_hours (hour, kind, events)
   select (c.chain_time / 3600000)::integer, e.kind, count(*) from covenant_events e
     join chain_blocks c on c.index = e.chain_index group by 1, 2`,
  `insert into program_use_hours (hour, use, spends, fees)
   select distinct hour, use, 10, 1000 from covenant_hours
     cross join unnest(array[1, 2, 8]) as use`,
  `select setval(pg_get_serial_sequence('covenants', 'id'), max(id)) from covenants`,
];
