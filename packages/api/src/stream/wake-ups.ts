/**
 * Says when the index may have changed: at each commit of the indexer (`LISTEN` on the primary), and at intervals, since notifications may be lost.
 * A replica has a commit some time after its notification, so it is polled more often.
 */
import { clientConfig, listenTo } from '@kasgres/database';
import { Client } from 'pg';

const POLL_MS = 1000;
const REPLICA_POLL_MS = 50;
const RECONNECT_MS = 1000;

export interface WakeUpOptions {
  /** URL of the primary. */
  databaseUrl: string;
  isReplica: () => Promise<boolean>;
  onWakeUp: () => void;
}

export class WakeUps {
  readonly #options: WakeUpOptions;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WakeUpOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(this.#options.onWakeUp, POLL_MS).unref();
    void this.#choose();
  }

  async #choose(): Promise<void> {
    const isReplica = await this.#options.isReplica().catch(() => undefined);
    if (this.#isClosed) return;
    if (isReplica === undefined) this.#retry(() => void this.#choose());
    else if (isReplica) {
      clearInterval(this.#timer);
      this.#timer = setInterval(this.#options.onWakeUp, REPLICA_POLL_MS).unref();
    } else this.#listen();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#client?.end().catch(() => undefined);
  }

  /** Until the connection is back, polling continues. */
  #listen(): void {
    if (this.#isClosed) return;
    const client = new Client({ ...clientConfig(this.#options.databaseUrl), application_name: 'kasgres api listens' });
    this.#client = client;
    let isLost = false;
    const lose = (): void => {
      if (isLost) return;
      isLost = true;
      void client.end().catch(() => undefined);
      this.#retry(() => this.#listen());
    };
    client.on('error', lose);
    client.on('end', lose);
    client.on('notification', this.#options.onWakeUp);
    client
      .connect()
      .then(() => listenTo(client, 'commits'))
      .catch(lose);
  }

  #retry(again: () => void): void {
    if (!this.#isClosed) setTimeout(again, RECONNECT_MS).unref();
  }
}
