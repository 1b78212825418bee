/**
 * The checks of covenants and programs find manual changes of a correct database (invariant 4).
 * Each change is rolled back.
 */
import { verifyCovenants, verifyPrograms } from '@kasgres/state/testing';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { APPLICATION_RATE } from '../support/simulated-dag.ts';
import { type Harness, openHarness } from './harness.ts';

const ROUNDS = 250;
const REORG_DEPTH = 20;
/** Hostile miners create bare programs. */
const HOSTILE_RATE = 0.2;

let harness: Harness;
let client: PoolClient;

beforeAll(async () => {
  harness = await openHarness(
    'tampering with covenants',
    ROUNDS,
    undefined,
    { applicationRate: APPLICATION_RATE, hostileRate: HOSTILE_RATE },
    REORG_DEPTH,
  );
  client = harness.client;
});
afterAll(() => harness?.close());

beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const LATEST = '(select max(id) from covenants where utxo_count > 0 and event_count > 1)';
const of = (table: string, condition = 'true'): string =>
  `ctid = (select ctid from ${table} where ${condition} order by ctid desc limit 1)`;
const increase = (table: string, columns: string, condition: string): string[] =>
  columns.split(' ').map((column) => `update ${table} set ${column} = ${column} + 1 where ${condition}`);
const ACCEPTED_GENESIS = `
  transaction_id = (select transaction_id from covenant_events where kind = 'genesis'
    order by chain_index desc, position desc limit 1)
  and covenant_id is not null`;

/** Changes the template of the last event of a covenant and of all that follows from it. */
function changeLastTemplate(is: 'null' | 'not null'): string {
  return `
    with event as (
      select e.ctid as row, c.id, c.template_id as before,
        (select max(id) from program_templates where id is distinct from c.template_id) as other
        from covenant_events e join covenants c on c.id = e.covenant_id
       where e.template_id is ${is}
         and not exists (
           select from covenant_events l
             where l.covenant_id = e.covenant_id
               and (l.chain_index, l.position) > (e.chain_index, e.position))
       limit 1),
    covenant as (update covenants c set template_id = other from event where c.id = event.id),
    counts as (
      update program_templates t set covenant_count = covenant_count + case when t.id = other then 1
        else -1 end
        from event where t.id = other or t.id = before)
    update covenant_events e set template_id = other from event where e.ctid = event.row`;
}

/**
 * Makes a program of a revealed script that is none, and of its only spend, in the sums as well.
 */
const INVENTED_PROGRAM = `
  with revealed as (
    select min(i.transaction_id) as id, min(i.index) as index,
      substring(s.script from 3 for 32) as hash
      from scripts s join transaction_inputs i on i.script_id = s.id
        join transactions t on t.id = i.transaction_id
     where s.type = 'scripthash' and t.accepted_variant is not null
       and not exists (select from programs p where p.hash = substring(s.script from 3 for 32))
     group by s.script having count(*) = 1 limit 1),
  spend as (
    select r.*, c.chain_time, coalesce(t.fee, 0) as fee
      from revealed r join transactions t on t.id = r.id
        join chain_blocks c on c.index = t.accepting_index),
  hours as (
    insert into program_use_hours (hour, use, spends, fees) select (chain_time / 3600000)::integer,
      4, 1, fee from spend
    on conflict (hour, use) do update
      set spends = program_use_hours.spends + 1, fees = program_use_hours.fees + excluded.fees)
  insert into programs (transaction_id, first_seen, spend_count, index, length, uses, is_bare, hash)
  select id, chain_time, 1, index, 50, 4, false, hash from spend`;

const changes = [
  ...increase(
    'covenants',
    'balance utxo_count event_count first_seen last_seen genesis_transaction_id',
    `id = ${LATEST}`,
  ),
  `update covenants set is_complete = false where id = ${LATEST}`,
  `update covenants set covenant_id = sha256(covenant_id) where id = ${LATEST}`,
  `delete from covenants where id = ${LATEST}`,
  `insert into covenants (event_count, balance, first_seen, last_seen, utxo_count, is_complete,
    covenant_id) values (0, 0, 0, 0, 0, false, sha256(''))`,
  `update covenants set template_id = null where ${of('covenants', 'template_id is not null')}`,
  ...increase(
    'covenant_events',
    'chain_index position transaction_id covenant_id previous_seen',
    of('covenant_events', `kind = 'transition'`),
  ),
  `update covenant_events set kind = 'burn' where ${of('covenant_events', `kind = 'transition'`)}`,
  `update covenant_events set previous_template_id = null
    where ${of('covenant_events', 'previous_template_id is not null')}`,
  `delete from covenant_events where ${of('covenant_events')}`,
  `update covenant_events set template_id = null where ${of('covenant_events', 'template_id is not null')}`,
  changeLastTemplate('not null'),
  changeLastTemplate('null'),
  `with event as (
     select e.ctid as row, later.ctid as later,
       (select max(id) from program_templates
         where id not in (e.template_id, later.template_id)) as other
       from covenant_events e
       join lateral (
         select ctid, template_id from covenant_events l
           where l.covenant_id = e.covenant_id
             and (l.chain_index, l.position) > (e.chain_index, e.position)
          order by l.chain_index, l.position limit 1) later on true
      where e.template_id is not null and later.template_id is not null limit 1),
   following as (update covenant_events e set previous_template_id = other from event
     where e.ctid = event.later)
   update covenant_events e set template_id = other from event where e.ctid = event.row`,
  ...increase('covenant_hours', 'events', of('covenant_hours')),
  `delete from covenant_hours where ${of('covenant_hours', 'events > 0')}`,
  `update utxos set covenant_id = null where ${of('utxos', 'covenant_id is not null')}`,
  `update transaction_outputs set covenant_authorizing_input = 65535 where ${ACCEPTED_GENESIS}`,
  `update transaction_outputs set amount = amount + 1 where ${ACCEPTED_GENESIS}`,
  ...increase('programs', 'spend_count length first_seen transaction_id index', of('programs', 'spend_count > 0')),
  `update programs set uses = uses # 1::smallint where ${of('programs')}`,
  `update programs set is_bare = not is_bare where ${of('programs')}`,
  `update programs set script_id = null where ${of('programs', 'is_bare')}`,
  `with two as (
     select min(hash) as one, max(hash) as other from programs where spend_count > 0
       group by template_id having count(*) > 1 limit 1)
   update programs set spend_count = spend_count + case when hash = one then 1 else -1 end from two
     where hash in (one, other)`,
  `insert into programs (transaction_id, first_seen, spend_count, script_id, index, length, uses, is_bare, hash)
   select transaction_id, first_seen, spend_count, script_id, index, length, uses, is_bare,
     sha256(hash) from programs
    where ${of('programs', 'is_bare and spend_count = 0')}`,
  INVENTED_PROGRAM,
  `update programs set template_id = null where ${of('programs', 'template_id is not null')}`,
  `update programs set hash = sha256(hash) where ${of('programs')}`,
  `delete from programs where ${of('programs')}`,
  `update programs set kcc_template = sha256(hash) where ${of('programs', 'kcc_template is not null')}`,
  `update programs set kcc_template = sha256(hash) where ${of('programs', 'kcc_template is null')}`,
  ...[
    `covenant_events - 0`,
    `jsonb_set(covenant_events, '{0,0}', '1000000')`,
    `jsonb_set(covenant_events, '{0,1}', '"00"')`,
    `jsonb_set(covenant_events, '{0,2}', '"split"')`,
    `covenant_events || covenant_events`,
    `'{}'`,
  ].map(
    (events) =>
      `update removed_chain_blocks set covenant_events = ${events}
        where ${of('removed_chain_blocks', 'covenant_events is not null')}`,
  ),
  `update removed_chain_blocks set covenant_events = jsonb_set(covenant_events, '{0,3}', '"00"')
    where covenant_events is not null`,
  ...increase('program_templates', 'program_count spend_count covenant_count first_seen', of('program_templates')),
  ...increase('program_use_hours', 'spends fees', of('program_use_hours', 'spends > 0')),
  `delete from program_use_hours where ${of('program_use_hours', 'spends > 0')}`,
];

test('a correct database has no faults', async () => {
  expect(await faults()).toEqual([]);
});

test.each(changes)('it finds: %s', async (statement) => {
  const { rowCount } = await client.query(statement);
  expect(rowCount).toBeGreaterThan(0);
  expect(await faults()).not.toEqual([]);
});

async function faults(): Promise<string[]> {
  return [...(await verifyCovenants(client)), ...(await verifyPrograms(client))];
}
