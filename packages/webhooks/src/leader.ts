/**
 * Lets one process at a time deliver: the one whose session holds a lock of the database. Others
 * take over when that session ends.
 */
import { clientConfig, holdSession, listenTo, SERVER_KEEP_ALIVE } from '@kasgres/database';
import { type Logger, sleep } from '@kasgres/runtime';
import type { Client } from 'pg';

const RETRY_MS = 1000;

interface LeaderOptions {
  databaseUrl: string;
  logger: Logger;
  signal: AbortSignal;
  /** Runs while this process leads, until the signal is aborted. */
  work: (signal: AbortSignal) => Promise<void>;
  /** Called at each commit of the indexer, and when a webhook was changed. */
  onNotification: () => void;
}

/** Resolves when the signal is aborted. */
export async function whileLeading(options: LeaderOptions): Promise<void> {
  const { databaseUrl, logger, signal } = options;
  const config = {
    // The server must end the session of a host that was lost, so that another process can take
    // over.
    ...clientConfig(databaseUrl, SERVER_KEEP_ALIVE),
    application_name: 'kasgres webhooks leader',
  };
  const onLost = (error: unknown): void =>
    logger.warn({ reason: String(error) }, 'lost the connection that holds the lock of webhooks, retrying');
  await holdSession({ config, signal, onLost, use: (client, ended) => lead(client, options, ended) });
}

async function lead(
  client: Client,
  { logger, work, onNotification }: LeaderOptions,
  ended: AbortSignal,
): Promise<void> {
  client.on('notification', onNotification);
  if (!(await tryLock(client))) {
    logger.info('another process delivers to webhooks: waiting for it to stop');
    while (!(await tryLock(client))) {
      await sleep(RETRY_MS, ended).catch(() => undefined);
      if (ended.aborted) return;
    }
  }
  await listenTo(client, 'commits', 'webhooks');
  logger.info('delivering to webhooks');
  await work(ended);
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `select pg_try_advisory_lock(hashtext('kasgres webhooks'), 0) as locked`,
  );
  return rows[0]?.locked === true;
}
