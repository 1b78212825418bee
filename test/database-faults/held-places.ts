/**
 * Makes the indexer wait at places of a start and its first catch-up, one at a time, until the test lets it go on or what waits has failed: with
 * triggers that look again and again at what place is held.
 */
import { expect } from 'vitest';
import type { RunningIndexer } from '../support/simulated-dag.ts';
import { type Harness, untilItResponses } from './harness.ts';

/** What is before the first block of an index. */
const START = 'start:';

/** Triggers by the name of the place: what comes before `execute function`. */
const TRIGGERS: Readonly<Record<string, string>> = {
  'start: the emptying of what was loaded': 'before truncate on loaded_utxos for each statement',
  'start: a piece of the set': 'after insert on loaded_utxos for each statement',
  'start: what was held at the one before': 'after insert on start_balances for each statement',
  'start: its UTXOs': 'after insert on start_utxos for each statement',
  'start: its gap': 'after insert on gaps for each statement',
  'a batch': 'before insert on chain_blocks for each statement',
  'the emptying of UTXOs': 'before truncate on utxos for each statement',
  'the making of UTXOs': 'after insert on utxos for each statement',
  'the making of balances': 'after insert on balances for each statement',
  'the making of hours': 'after insert on balance_changes for each statement',
  'the making of intervals': 'after insert on network_intervals for each statement',
};

/** The same, at commit. */
const DEFERRED: Readonly<Record<string, string>> = {
  'start: the commit of a piece': 'after insert or update on utxo_set_load',
  'start: its commit': 'after insert on starts',
  'the commit of a batch': 'after update on checkpoint',
};

/** Of an empty index, so that what is held is not the first block. */
const HAS_ROWS = '(select count(*) > 3 from chain_blocks)';

/** Says where it waits. */
const WAIT = `
  perform set_config('application_name', here, true);
  while exists (select from test.held where place = here) loop perform pg_sleep(0.02); end loop`;

const SELECT_WAITING = "from pg_stat_activity where application_name = $1 and wait_event = 'PgSleep'";

/** In a schema of its own, that a comparison of indexes does not see. */
export async function preparePlaces({ database }: Pick<Harness, 'database'>): Promise<void> {
  const statements = [
    'create schema test',
    'create table test.held (place text)',
    `create function test.wait(here text) returns void language plpgsql as $$ begin if here like '${START}%' or ${HAS_ROWS} then ${WAIT}; end if; end $$`,
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
      ([place, event], number) =>
        `create constraint trigger hold_deferred_${number} ${event} deferrable initially deferred
           for each row execute function test.hold('${place}')`,
    ),
    `create constraint trigger hold_requests after update on checkpoint deferrable initially deferred
       for each row when (old.first_catch_up and not new.first_catch_up) execute function test.hold('the commit that lets requests in')`,
  ];
  await database.pool.query(statements.join(';\n'));
}

/** Whatever comes by here from now on waits. */
export async function holdAt({ database }: Pick<Harness, 'database'>, place: string): Promise<void> {
  await untilItResponses(database, 'insert into test.held values ($1)', [place]);
}

export async function letGo({ database }: Pick<Harness, 'database'>, place: string): Promise<void> {
  await untilItResponses(database, 'delete from test.held where place = $1', [place]);
}

export async function untilOneWaits({ database }: Pick<Harness, 'database'>, place: string): Promise<void> {
  await expect
    .poll(() => untilItResponses(database, `select ${SELECT_WAITING}`, [place]), { timeout: 60_000 })
    .toBeGreaterThan(0);
}

/** Ends the session that waits, and it alone. */
export async function endWaiting({ database }: Pick<Harness, 'database'>, place: string): Promise<void> {
  await untilItResponses(database, `select pg_terminate_backend(pid) ${SELECT_WAITING}`, [place]);
}

/** Happens while something waits at a place. */
type Fault = (harness: Harness, place: string) => Promise<void>;

export const FAULTS: readonly [string, Fault][] = [
  ['the connection that works there is ended', endWaiting],
  [
    'Postgres is stopped immediately and started again',
    async ({ postgres }) => {
      await postgres.stop('immediate');
      await postgres.startAgain();
    },
  ],
  ['connections are lost without a word', async ({ proxy }) => proxy.lose()],
];

/** Waits for the indexer at the first place, which is held already, fails there, and so on to the last. */
export async function failAtEach(
  harness: Harness,
  indexer: RunningIndexer,
  places: readonly string[],
  fail: Fault,
): Promise<void> {
  const ended = indexer.ended.then(() => Promise.reject(new Error('the indexer ended')));
  ended.catch(() => undefined);
  for (const [number, place] of places.entries()) {
    const next = places[number + 1];
    const step = async (): Promise<void> => {
      await untilOneWaits(harness, place);
      if (next !== undefined) await holdAt(harness, next);
      await fail(harness, place);
      await letGo(harness, place);
    };
    try {
      await Promise.race([step(), ended]);
    } catch (cause) {
      throw new Error(`at "${place}"`, { cause });
    }
  }
}

/** What would hold nothing any more is not to be seen in a comparison either. */
export async function removePlaces({ database }: Harness): Promise<void> {
  await untilItResponses(database, 'drop schema test cascade');
}
