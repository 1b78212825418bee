/**
 * The embedded Postgres, restarted when it exits. packages/database ensures that it stops when this
 * process does.
 */
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@kasgres/database/embedded';
import { backoff, sleep } from '@kasgres/runtime';

interface SupervisedPostgresOptions {
  print: (line: string) => void;
  /**
   * Called when Postgres is ready. At a restart the URL is the same, unless another program has
   * taken the port.
   */
  onUrl: (url: string) => void;
}

export class SupervisedPostgres {
  /** Resolves when Postgres is ready for the first time; rejects if none can run here. */
  readonly url: Promise<string>;
  readonly #dataDir: string;
  readonly #options: SupervisedPostgresOptions;
  readonly #stopping = new AbortController();
  readonly #supervising: Promise<void>;
  #running: Promise<EmbeddedPostgres>;

  constructor(dataDir: string, options: SupervisedPostgresOptions) {
    this.#dataDir = dataDir;
    this.#options = options;
    this.#running = this.#start();
    this.url = this.#running.then(({ url }) => url);
    // Supervision ends with a stop, or with a failure of the first start, which `url` reports.
    this.#supervising = this.#supervise().catch(() => {});
  }

  /** @param immediate does not wait for a checkpoint; the next start recovers from the WAL */
  async stop({ immediate }: { immediate: boolean }): Promise<void> {
    this.#stopping.abort();
    const postgres = await this.#running.catch(() => undefined);
    await postgres?.stop({ immediate });
    await this.#supervising;
  }

  async #start(port?: number): Promise<EmbeddedPostgres> {
    const postgres = await startEmbeddedPostgres({
      dataDir: this.#dataDir,
      port,
      signal: this.#stopping.signal,
    });
    this.#options.onUrl(postgres.url);
    return postgres;
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#stopping;
    const { print } = this.#options;
    const delays = backoff({ firstMs: 500 });
    let postgres = await this.#running;
    for (;;) {
      const code = await postgres.exited;
      if (signal.aborted) return;
      const delayMs = delays.next().value;
      print(`postgres exited (${code ?? 'by a signal'}); restarting in ${(delayMs / 1000).toFixed(1)} s`);
      await sleep(delayMs, signal);
      this.#running = this.#start(postgres.port);
      try {
        postgres = await this.#running;
      } catch (error) {
        print(`postgres: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
}
