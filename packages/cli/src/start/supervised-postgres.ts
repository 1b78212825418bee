/** The embedded Postgres, restarted at the same address when it exits. packages/database ensures that it stops when this process does. */
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@kasgres/database';
import { backoff, sleep } from '@kasgres/runtime';

export class SupervisedPostgres {
  /** Resolves when Postgres is ready for the first time; rejects if none can run here. */
  readonly url: Promise<string>;
  readonly #options: { dataDir: string; port: number };
  readonly #print: (line: string) => void;
  readonly #stopping = new AbortController();
  readonly #supervising: Promise<void>;
  #running: Promise<EmbeddedPostgres>;

  constructor(dataDir: string, port: number, print: (line: string) => void) {
    this.#options = { dataDir, port };
    this.#print = print;
    this.#running = startEmbeddedPostgres(this.#options);
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

  async #supervise(): Promise<void> {
    const { signal } = this.#stopping;
    const delays = backoff({ firstMs: 500 });
    let code = await (await this.#running).exited;
    while (!signal.aborted) {
      const delayMs = delays.next().value;
      this.#print(`postgres exited (${code ?? 'by a signal'}); restarting in ${(delayMs / 1000).toFixed(1)} s`);
      await sleep(delayMs, signal);
      this.#running = startEmbeddedPostgres(this.#options);
      try {
        code = await (await this.#running).exited;
      } catch (error) {
        this.#print(`postgres: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
}
