/**
 * Decodes inscriptions again after an upgrade to other decoders, on a separate connection, a range
 * of transactions at a time.
 */
import { checkSchema, type Connection } from '@kasgres/database';
import { type Logger, retry, sleep } from '@kasgres/runtime';
import { backfillInscriptions } from '@kasgres/state';
import { disconnectLater } from '../database.ts';

/**
 * The first catch-up may end meanwhile, and a version that came later may have been replaced by an
 * earlier one.
 */
const IDLE_MS = 60_000;
const MAX_DELAY_MS = 60_000;

export interface BackfillOptions {
  database: Connection;
  log: Logger;
}

/**
 * Returns when the signal is aborted, and never throws. Each step locks the checkpoint, so that
 * batches wait for it.
 */
export async function keepInscriptions({ database, log }: BackfillOptions, signal: AbortSignal): Promise<void> {
  const onFailure = (error: unknown, delayMs: number): void =>
    log.warn({ err: error, delayMs }, 'retrying to decode inscriptions again');
  const run = async (succeeded: () => void): Promise<void> => {
    while (!signal.aborted) {
      await checkSchema(database.pool);
      const steps = await backfill(database, log, signal);
      if (steps > 0) log.info({ steps }, 'decoded inscriptions again');
      succeeded();
      await sleep(IDLE_MS, signal).catch(() => undefined);
    }
  };
  await retry(run, { maxMs: MAX_DELAY_MS, signal, onFailure });
}

async function backfill({ pool }: Connection, log: Logger, signal: AbortSignal): Promise<number> {
  const client = await pool.connect();
  const disconnecting = disconnectLater([client], signal);
  try {
    let steps = 0;
    while (!signal.aborted && (await backfillInscriptions(client))) {
      if (steps === 0) log.info('decoding inscriptions again, since the decoders changed');
      steps += 1;
    }
    return steps;
  } finally {
    disconnecting.cancel();
    client.release(true);
  }
}
