/** Makes the indexer's transactions wait in the middle, so that a fault happens there. */
import { expect } from 'vitest';
import { repeatWhile, type Harness, queryPatiently } from './harness.ts';

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
