/**
 * Makes the indexer wait at a step of a bootstrap and its first catch-up until the test releases or
 * fails it, with triggers that poll a table.
 */
import { expect } from 'vitest';
import type { RunningIndexer } from '../support/simulated-dag.ts';
import { type Harness, queryPatiently, repeatWhile } from './harness.ts';

/** Steps before the first block of an index. */
const BOOTSTRAP = 'bootstrap:';

/** Triggers by step, without `execute function`. */
const TRIGGERS: Readonly<Record<string, string>> = {
  'bootstrap: truncate loaded UTXOs': 'before truncate on loaded_utxos for each statement',
  'bootstrap: piece of the UTXO set': 'after insert on loaded_utxos for each statement',
  'bootstrap: balances at the previous one': 'after insert on bootstrap_balances for each statement',
  'bootstrap: UTXOs': 'after insert on bootstrap_utxos for each statement',
  'bootstrap: gap': 'after insert on gaps for each statement',
  batch: 'before insert on chain_blocks for each statement',
  'truncate UTXOs': 'before truncate on utxos for each statement',
  'rebuild UTXOs': 'after insert on utxos for each statement',
  'rebuild balances': 'after insert on balances for each statement',
  'rebuild hourly changes': 'after insert on previous_balance_changes for each statement',
  'rebuild intervals': 'after insert on network_intervals for each statement',
};

/** Events of triggers at commit, by step. */
const DEFERRED: Readonly<Record<string, string>> = {
  'bootstrap: commit of a piece': 'after insert or update on utxo_set_load',
  'bootstrap: commit': 'after insert on bootstrap_blocks',
  'commit of a batch': 'after update on checkpoint',
};

/** The batch of the first block does not wait. */
const HAS_ROWS = '(select count(*) > 3 from chain_blocks)';

const WAIT = `
  perform set_config('application_name', here, true);
  while exists (select from test.held where step = here) loop perform pg_sleep(0.02); end loop`;

/** A program gives up after 25 seconds. */
const STOP_WITHIN_MS = 20_000;

const SELECT_WAITING = "from pg_stat_activity where application_name = $1 and wait_event = 'PgSleep'";

/** Creates the triggers, in a separate schema that comparisons of indexes ignore. */
export async function prepareSteps({ database }: Pick<Harness, 'database'>): Promise<void> {
  const statements = [
    'create schema test',
    'create table test.held (step text)',
    `create function test.wait(here text) returns void language plpgsql as $$ begin if here like '${BOOTSTRAP}%' or ${HAS_ROWS} then ${WAIT}; end if; end $$`,
    `create function test.hold() returns trigger language plpgsql as $$ begin perform test.wait(tg_argv[0]); return null; end $$`,
    `create function test.hold_index() returns event_trigger language plpgsql as $$
       declare made record;
       begin
         for made in select object_identity from pg_event_trigger_ddl_commands()
           where command_tag = 'CREATE INDEX' loop
           perform test.wait('index ' || made.object_identity);
         end loop;
       end $$`,
    `create event trigger hold_index on ddl_command_end
      when tag in ('CREATE INDEX') execute function test.hold_index()`,
    `create function test.hold_any_index() returns event_trigger language plpgsql as $$ begin perform test.wait('any index'); end $$`,
    `create event trigger hold_any_index on ddl_command_start
      when tag in ('CREATE INDEX') execute function test.hold_any_index()`,
    ...Object.entries(TRIGGERS).map(
      ([step, trigger], number) => `create trigger hold_${number} ${trigger} execute function test.hold('${step}')`,
    ),
    ...Object.entries(DEFERRED).map(
      ([step, event], number) =>
        `create constraint trigger hold_deferred_${number} ${event} deferrable initially deferred
           for each row execute function test.hold('${step}')`,
    ),
    `create constraint trigger hold_requests after update on checkpoint deferrable initially deferred
       for each row when (old.first_catch_up
         and not new.first_catch_up) execute function test.hold('commit that admits requests')`,
  ];
  await database.pool.query(statements.join(';\n'));
}

export async function holdAt({ database }: Pick<Harness, 'database'>, step: string): Promise<void> {
  await queryPatiently(database, 'insert into test.held values ($1)', [step]);
}

export async function release({ database }: Pick<Harness, 'database'>, step: string): Promise<void> {
  await queryPatiently(database, 'delete from test.held where step = $1', [step]);
}

export async function untilOneWaits({ database }: Pick<Harness, 'database'>, step: string): Promise<void> {
  await expect
    .poll(() => queryPatiently(database, `select ${SELECT_WAITING}`, [step]), { timeout: 60_000 })
    .toBeGreaterThan(0);
}

/**
 * Stops the indexer while it waits at a step, as a signal would, and expects that the server has
 * rolled the step back soon.
 */
export async function stopAt(harness: Harness, indexer: RunningIndexer, step: string): Promise<void> {
  await untilOneWaits(harness, step);
  const stoppedAt = performance.now();
  await indexer.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(STOP_WITHIN_MS);
  await expect
    .poll(() => queryPatiently(harness.database, `select ${SELECT_WAITING}`, [step]), { timeout: STOP_WITHIN_MS })
    .toBe(0);
}

/** Ends the waiting session only. */
export async function endWaitingSession({ database }: Pick<Harness, 'database'>, step: string): Promise<void> {
  await queryPatiently(database, `select pg_terminate_backend(pid) ${SELECT_WAITING}`, [step]);
}

/** Injects a fault while the indexer waits at a step. */
type Fault = (harness: Harness, step: string) => Promise<void>;

export const FAULTS: readonly [string, Fault][] = [
  ['its connection is ended', endWaitingSession],
  [
    'Postgres is stopped immediately and started again',
    async ({ postgres }) => {
      await postgres.stop('immediate');
      await postgres.startAgain();
    },
  ],
  ['connections fall silent', async ({ proxy }) => proxy.lose()],
];

/** Fails the indexer at each step in order. It must already be held at the first. */
export async function failAtEach(
  harness: Harness,
  indexer: RunningIndexer,
  steps: readonly string[],
  fail: Fault,
): Promise<void> {
  const ended = indexer.ended.then(() => Promise.reject(new Error('the indexer stopped')));
  ended.catch(() => undefined);
  for (const [number, step] of steps.entries()) {
    const next = steps[number + 1];
    const failHere = async (): Promise<void> => {
      await untilOneWaits(harness, step);
      if (next !== undefined) await holdAt(harness, next);
      await fail(harness, step);
      await release(harness, step);
    };
    try {
      await Promise.race([failHere(), ended]);
    } catch (cause) {
      throw new Error(`at "${step}"`, { cause });
    }
  }
}

/** Removes the triggers, which a comparison would see. */
export async function removeSteps({ database }: Harness): Promise<void> {
  await queryPatiently(database, 'drop schema test cascade');
}

/** Events that fire once for a batch with any chain blocks (`growChain` makes one). */
export const WITH_ROWS_WRITTEN = 'trigger hold before insert on chain_blocks for each statement';
export const AT_COMMIT =
  'constraint trigger hold after update on checkpoint deferrable initially deferred for each row';

const SELECT_HELD = "from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";

export async function holdEveryBatch({ database }: Harness, trigger: string, seconds = 120): Promise<void> {
  await database.pool.query(
    // A failed test may have left its trigger.
    `drop function if exists hold cascade;
     create function hold() returns trigger language plpgsql as $$ begin perform pg_sleep(${seconds}); return null; end $$;
     create ${trigger} execute function hold()`,
  );
}

export async function untilHeld({ database }: Harness): Promise<void> {
  await expect.poll(() => queryPatiently(database, `select ${SELECT_HELD}`), { timeout: 30_000 }).toBeGreaterThan(0);
}

/** Also ends the waiting sessions, which lock the table of the trigger. */
export async function releaseBatches({ database }: Harness): Promise<void> {
  await repeatWhile(queryPatiently(database, 'drop function hold cascade'), () =>
    queryPatiently(database, `select pg_terminate_backend(pid) ${SELECT_HELD}`),
  );
}
