/** Makes the indexer's transactions wait at a place, so that what fails then fails there. */
import { expect } from 'vitest';
import { repeatWhile, type Harness, untilItResponses } from './harness.ts';

/** Where a trigger is to fire: once for a batch, however many chain blocks it has (`growChain` makes one that has any). */
export const WITH_ROWS_WRITTEN = 'trigger hold before insert on chain_blocks for each statement';
export const AT_COMMIT =
  'constraint trigger hold after update on checkpoint deferrable initially deferred for each row';

const SELECT_HELD = "from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";

export async function holdEveryBatch({ database }: Harness, trigger: string, seconds = 120): Promise<void> {
  await database.pool.query(
    // One that a test which failed has left would fail this one too.
    `drop function if exists hold cascade;
     create function hold() returns trigger language plpgsql as $$ begin perform pg_sleep(${seconds}); return null; end $$;
     create ${trigger} execute function hold()`,
  );
}

export async function untilHeld({ database }: Harness): Promise<void> {
  await expect.poll(() => untilItResponses(database, `select ${SELECT_HELD}`), { timeout: 30_000 }).toBeGreaterThan(0);
}

/** Those that wait are ended with their connection: they hold a lock on the table of the trigger. */
export async function letBatchesGo({ database }: Harness): Promise<void> {
  await repeatWhile(untilItResponses(database, 'drop function hold cascade'), () =>
    untilItResponses(database, `select pg_terminate_backend(pid) ${SELECT_HELD}`),
  );
}
