/** The checks of covenants and programs find manual changes of a correct database (invariant 4). Each change is rolled back. */
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifyCovenants } from '../../packages/state/src/covenants/verify.ts';
import { verifyPrograms } from '../../packages/state/src/programs/verify.ts';
import { APPLICATION_RATE } from '../support/simulated-dag.ts';
import { type Harness, openHarness } from './harness.ts';

const ROUNDS = 250;

let harness: Harness;
let client: PoolClient;

beforeAll(async () => {
  harness = await openHarness('tampering with covenants', ROUNDS, undefined, { applicationRate: APPLICATION_RATE });
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
  transaction_id = (select transaction_id from covenant_events where kind = 'genesis' order by chain_index desc, position desc limit 1)
  and covenant_id is not null`;

const changes = [
  ...increase(
    'covenants',
    'balance utxo_count event_count first_seen last_seen genesis_transaction_id',
    `id = ${LATEST}`,
  ),
  `update covenants set is_complete = false where id = ${LATEST}`,
  `update covenants set covenant_id = sha256(covenant_id) where id = ${LATEST}`,
  `delete from covenants where id = ${LATEST}`,
  `insert into covenants (event_count, balance, first_seen, last_seen, utxo_count, is_complete, covenant_id) values (0, 0, 0, 0, 0, false, sha256(''))`,
  `update covenants set template_id = null where ${of('covenants', 'template_id is not null')}`,
  ...increase(
    'covenant_events',
    'chain_index position transaction_id covenant_id previous_seen',
    of('covenant_events', `kind = 'transition'`),
  ),
  `update covenant_events set kind = 'burn' where ${of('covenant_events', `kind = 'transition'`)}`,
  `update covenant_events set previous_template_id = null where ${of('covenant_events', 'previous_template_id is not null')}`,
  `delete from covenant_events where ${of('covenant_events')}`,
  ...increase('covenant_hours', 'events', of('covenant_hours')),
  `delete from covenant_hours where ${of('covenant_hours', 'events > 0')}`,
  `update utxos set covenant_id = null where ${of('utxos', 'covenant_id is not null')}`,
  `update transaction_outputs set covenant_authorizing_input = 65535 where ${ACCEPTED_GENESIS}`,
  `update transaction_outputs set amount = amount + 1 where ${ACCEPTED_GENESIS}`,
  ...increase('programs', 'spend_count length first_seen transaction_id index', of('programs', 'spend_count > 0')),
  `update programs set uses = uses # 1::smallint where ${of('programs')}`,
  `update programs set is_bare = not is_bare where ${of('programs')}`,
  `update programs set template_id = null where ${of('programs', 'template_id is not null')}`,
  `update programs set hash = sha256(hash) where ${of('programs')}`,
  `delete from programs where ${of('programs')}`,
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
