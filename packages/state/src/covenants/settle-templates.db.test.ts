import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { blake2b256 } from '@kasgres/kaspa';
import { describeProgram } from '@kasgres/programs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Reveals } from '../reveals/reveals.ts';
import { settleTemplates } from './settle-templates.ts';

const COVENANT = Buffer.alloc(32, 7);
const PROGRAM = Buffer.from('b951', 'hex');
/**
 * Keys of templates: that of `PROGRAM`, and another one. Anybody can write programs with more
 * templates than an integer counts.
 */
const SETTLED = 2n ** 31n;
const OTHER = SETTLED + 1n;

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await database.pool.query(
    `insert into program_templates (id, program_count, spend_count, covenant_count, first_seen, template)
     values ($1, 1, 1, 0, 0, $2), ($3, 1, 1, 0, 0, '\\x01')`,
    [SETTLED, Buffer.from(describeProgram(PROGRAM).template ?? []), OTHER],
  );
});
afterEach(() => database.drop());

/**
 * Writes the events of a covenant by transactions 1, 2 and so on.
 * @param templates what each is known to reveal
 */
async function writeEvents(templates: readonly (bigint | null)[]): Promise<void> {
  const { pool } = database;
  let previous: bigint | null = null;
  for (const [index, template] of templates.entries()) {
    await pool.query(
      `insert into covenant_events (covenant_id, chain_index, transaction_id, previous_seen,
        position, kind, template_id, previous_template_id)
       values (1, $1, $2, $3, 0, 'transition', $4, $5)`,
      [10 + index, index + 1, index, template, previous],
    );
    previous = template ?? previous;
  }
  await pool.query(
    `insert into covenants (id, event_count, balance, first_seen, last_seen, utxo_count,
      template_id, is_complete, covenant_id)
     values (1, $1, 0, 0, 0, 0, $2, true, $3)`,
    [templates.length, previous, COVENANT],
  );
  await pool.query('update program_templates set covenant_count = 1 where id = $1', [previous]);
}

/** @returns the number of statements */
async function settle(...transactions: readonly number[]): Promise<number> {
  const reveals = new Reveals();
  reveals.settled = transactions.map((transaction) => ({ transaction, variant: 1 }));
  for (const transaction of transactions) {
    reveals.found.push({
      transaction,
      input: 0,
      chainBlock: { index: 9 + transaction, chainTime: 0n },
      position: 0,
      fee: 0n,
      program: PROGRAM,
      hash: blake2b256(PROGRAM),
      covenantId: COVENANT,
    });
  }
  const client = await database.pool.connect();
  const statements = vi.spyOn(client, 'query');
  try {
    await settleTemplates(client, reveals);
    return statements.mock.calls.length;
  } finally {
    statements.mockRestore();
    client.release();
  }
}

async function read() {
  const { rows: events } = await database.pool.query<{ template: bigint | null; previous: bigint | null }>(
    'select template_id as template, previous_template_id as previous from covenant_events order by chain_index',
  );
  const { rows } = await database.pool.query<{ template: bigint | null; settled: bigint; other: bigint }>(
    `select (select template_id from covenants) as template,
      (select covenant_count from program_templates where id = ${SETTLED}) as settled,
            (select covenant_count from program_templates where id = ${OTHER}) as other`,
  );
  return { events: events.map(({ template, previous }) => [template, previous]), ...rows[0] };
}

test('the covenant has the template if no later event reveals one', async () => {
  await writeEvents([OTHER, null, null]);
  await settle(2);
  expect(await read()).toEqual({
    events: [
      [OTHER, null],
      [SETTLED, OTHER],
      [null, SETTLED],
    ],
    template: SETTLED,
    settled: 1n,
    other: 0n,
  });
});

test('the template holds until the next event that reveals one', async () => {
  await writeEvents([null, null, OTHER, null]);
  await settle(1);
  expect(await read()).toEqual({
    events: [
      [SETTLED, null],
      [null, SETTLED],
      [OTHER, SETTLED],
      [null, OTHER],
    ],
    template: OTHER,
    settled: 0n,
    other: 1n,
  });
});

test('templates of many events become known at once, between others', async () => {
  await writeEvents([null, OTHER, null, null, null, OTHER, null, null]);
  expect(await settle(8, 1, 4)).toBe(1);
  expect(await read()).toEqual({
    events: [
      [SETTLED, null],
      [OTHER, SETTLED],
      [null, OTHER],
      [SETTLED, OTHER],
      [null, SETTLED],
      [OTHER, SETTLED],
      [null, OTHER],
      [SETTLED, OTHER],
    ],
    template: SETTLED,
    settled: 1n,
    other: 0n,
  });
});
