import { sleep } from '@kasgres/runtime';
import { Client, type ClientConfig } from 'pg';
import { socketOf } from './lost-connections.ts';

const REOPEN_MS = 1000;
/** Closing, and each statement: a held session runs short ones only. */
const RESPONSE_WITHIN_MS = 10_000;

export interface SessionOptions {
  /** As `clientConfig` returns it. Its time limit for a statement overrides the one here. */
  config: ClientConfig;
  signal: AbortSignal;
  /**
   * Runs in each new session until `ended` is aborted: by the signal, or when the session is lost.
   */
  use: (client: Client, ended: AbortSignal) => Promise<void>;
  /** Called with what ended a session before the signal, and with failures to open one. */
  onLost: (error: unknown) => void;
}

/**
 * Holds a session, and opens another one a second after it is lost. Resolves after the signal, when
 * the session is closed.
 */
export async function holdSession(options: SessionOptions): Promise<void> {
  const { signal, onLost } = options;
  while (!signal.aborted) {
    try {
      await holdOnce(options);
    } catch (error) {
      if (!signal.aborted) onLost(error);
    }
    await sleep(REOPEN_MS, signal).catch(() => undefined);
  }
}

async function holdOnce({ config, signal, use }: SessionOptions): Promise<void> {
  const client = new Client({ query_timeout: RESPONSE_WITHIN_MS, ...config });
  const lost = new AbortController();
  let failure: Error | undefined;
  client.on('error', (error) => {
    failure = error;
    lost.abort();
  });
  client.on('end', () => lost.abort());
  // It may be connecting to a host that does not respond.
  const stopConnecting = (): void => void socketOf(client).destroy();
  signal.addEventListener('abort', stopConnecting, { once: true });
  try {
    await client.connect();
    signal.removeEventListener('abort', stopConnecting);
    if (!signal.aborted) await use(client, AbortSignal.any([signal, lost.signal]));
  } finally {
    signal.removeEventListener('abort', stopConnecting);
    const socket = socketOf(client);
    socket.setTimeout(RESPONSE_WITHIN_MS, () => socket.destroy());
    await client.end().catch(() => undefined);
  }
  if (failure !== undefined) throw failure;
}
