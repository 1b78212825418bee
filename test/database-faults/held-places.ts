/**
 * Makes the indexer wait at places of its first catch-up, one at a time, until the test lets it go on or what waits has failed: with
 * triggers that look again and again at what place is held.
 */
import { expect } from 'vitest';
import { type Stage, untilItAnswers } from './stage.ts';

/** Triggers by the name of the place: what comes before `execute function`. */
const TRIGGERS: Readonly<Record<string, string>> = {
  'a batch': 'before insert on chain_blocks for each statement',
  'the emptying of coins': 'before truncate on utxos for each statement',
  'the making of coins': 'after insert on utxos for each statement',
  'the making of balances': 'after insert on balances for each statement',
  'the making of hours': 'after insert on balance_changes for each statement',
};

/** At commit, and in it whatever the last statement has done. */
const DEFERRED: Readonly<Record<string, string>> = {
  'the commit of a batch': 'new.first_catch_up',
  'the commit that lets questions in': 'not new.first_catch_up',
};

/** Of an empty index, so that what is held is not the first block. */
const HAS_ROWS = '(select count(*) > 3 from chain_blocks)';

/** Says where it waits. */
const WAIT = `
  perform set_config('application_name', here, true);
  while exists (select from test.held where place = here) loop perform pg_sleep(0.02); end loop`;

const SELECT_WAITING = "from pg_stat_activity where application_name = $1 and wait_event = 'PgSleep'";

/** In a schema of its own, that a comparison of indexes does not see. */
export async function preparePlaces({ database }: Stage): Promise<void> {
  const statements = [
    'create schema test',
    'create table test.held (place text)',
    `create function test.wait(here text) returns void language plpgsql as $$ begin if ${HAS_ROWS} then ${WAIT}; end if; end $$`,
    `create function test.hold() returns trigger language plpgsql as $$ begin perform test.wait(tg_argv[0]); return null; end $$`,
    `create function test.hold_index() returns event_trigger language plpgsql as $$
       declare made record;
       begin
         for made in select object_identity from pg_event_trigger_ddl_commands() where command_tag = 'CREATE INDEX' loop
           perform test.wait('index ' || made.object_identity);
         end loop;
       end $$`,
    `create event trigger hold_index on ddl_command_end when tag in ('CREATE INDEX') execute function test.hold_index()`,
    `create function test.hold_any_index() returns event_trigger language plpgsql as $$ begin perform test.wait('any index'); end $$`,
    `create event trigger hold_any_index on ddl_command_start when tag in ('CREATE INDEX') execute function test.hold_any_index()`,
    ...Object.entries(TRIGGERS).map(
      ([place, trigger], number) => `create trigger hold_${number} ${trigger} execute function test.hold('${place}')`,
    ),
    ...Object.entries(DEFERRED).map(
      ([place, condition], number) =>
        `create constraint trigger hold_deferred_${number} after update on checkpoint deferrable initially deferred
           for each row when (${condition}) execute function test.hold('${place}')`,
    ),
  ];
  await database.pool.query(statements.join(';\n'));
}

/** Whatever comes by here from now on waits. */
export async function holdAt({ database }: Stage, place: string): Promise<void> {
  await untilItAnswers(database, 'insert into test.held values ($1)', [place]);
}

export async function letGo({ database }: Stage, place: string): Promise<void> {
  await untilItAnswers(database, 'delete from test.held where place = $1', [place]);
}

export async function untilOneWaits({ database }: Stage, place: string): Promise<void> {
  await expect
    .poll(() => untilItAnswers(database, `select ${SELECT_WAITING}`, [place]), { timeout: 60_000 })
    .toBeGreaterThan(0);
}

/** Ends the session that waits, and it alone. */
export async function endWaiting({ database }: Stage, place: string): Promise<void> {
  await untilItAnswers(database, `select pg_terminate_backend(pid) ${SELECT_WAITING}`, [place]);
}

/** What would hold nothing any more is not to be seen in a comparison either. */
export async function removePlaces({ database }: Stage): Promise<void> {
  await untilItAnswers(database, 'drop schema test cascade');
}
