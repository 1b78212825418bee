/** Lets one process at a time deliver: the one whose session holds a lock of the database. Others take over when that session ends. */
import { clientConfig, listenTo, SERVER_KEEP_ALIVE } from '@kasgres/database';
import type { Logger } from '@kasgres/runtime';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

const RETRY_MS = 1000;
const KEEP_ALIVE_MS = 10_000;

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
  const { logger, signal } = options;
  while (!signal.aborted) {
    try {
      await leadOnce(options);
    } catch (error) {
      logger.warn({ reason: String(error) }, 'lost the connection that holds the lock of webhooks, retrying');
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function leadOnce({ databaseUrl, logger, signal, work, onNotification }: LeaderOptions): Promise<void> {
  const client = new Client({
    // The server must end the session of a host that was lost, so that another process can take over.
    ...clientConfig(databaseUrl, SERVER_KEEP_ALIVE),
    application_name: 'kasgres webhooks leader',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  const lost = new AbortController();
  let failure: Error | undefined;
  client.on('error', (error) => {
    failure = error;
    lost.abort();
  });
  client.on('end', () => lost.abort());
  client.on('notification', onNotification);
  try {
    await client.connect();
    const either = AbortSignal.any([signal, lost.signal]);
    if (!(await tryLock(client))) {
      logger.info('another process delivers to webhooks: waiting for it to stop');
      while (!(await tryLock(client))) {
        await sleep(RETRY_MS, undefined, { signal: either }).catch(() => undefined);
        if (either.aborted) break;
      }
    }
    if (!either.aborted) {
      await listenTo(client, 'commits', 'webhooks');
      logger.info('delivering to webhooks');
      await work(either);
    }
  } finally {
    await client.end().catch(() => undefined);
  }
  if (failure !== undefined) throw failure;
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `select pg_try_advisory_lock(hashtext('kasgres webhooks'), 0) as locked`,
  );
  return rows[0]?.locked === true;
}
