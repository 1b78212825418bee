/**
 * Says when the index may have changed: at each commit of the indexer (`LISTEN` on the primary),
 * and at intervals, since notifications may be lost. A replica has a commit some time after its
 * notification, so it is polled more often.
 */
import { clientConfig, holdSession, listenTo } from '@kasgres/database';
import { retry, untilAborted } from '@kasgres/runtime';

const POLL_MS = 1000;
const REPLICA_POLL_MS = 50;
const RETRY_MS = 1000;

export interface WakeUpOptions {
  /** URL of the primary. */
  databaseUrl: string;
  isStandby: () => Promise<boolean>;
  onWakeUp: () => void;
}

export class WakeUps {
  readonly #options: WakeUpOptions;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #listening: Promise<void> | undefined;

  constructor(options: WakeUpOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(this.#options.onWakeUp, POLL_MS).unref();
    void this.#listenOrPoll();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    await this.#listening;
  }

  async #listenOrPoll(): Promise<void> {
    const { isStandby, onWakeUp } = this.#options;
    const { signal } = this.#closing;
    const replica = await retry(isStandby, { firstMs: RETRY_MS, maxMs: RETRY_MS, signal, onFailure: () => undefined });
    if (signal.aborted) return;
    if (replica !== true) {
      this.#listening = this.#listen();
      return;
    }
    clearInterval(this.#timer);
    this.#timer = setInterval(onWakeUp, REPLICA_POLL_MS).unref();
  }

  /** Until the connection is back, polling continues. */
  async #listen(): Promise<void> {
    const { databaseUrl, onWakeUp } = this.#options;
    await holdSession({
      config: { ...clientConfig(databaseUrl), application_name: 'kasgres api listens' },
      signal: this.#closing.signal,
      use: async (client, ended) => {
        client.on('notification', onWakeUp);
        await listenTo(client, 'commits');
        await untilAborted(ended);
      },
      onLost: () => undefined,
    });
  }
}
