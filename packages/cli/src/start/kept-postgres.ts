// The embedded Postgres, kept running: started again, at the same address, when it ends without being asked to. That it ends
// when we do, however we end, is what packages/database sees to.

import { type EmbeddedPostgres, startEmbeddedPostgres } from '@kasgres/database';
import { backoff, sleep } from '@kasgres/runtime';

export class KeptPostgres {
  /** Address of the database, once it is ready for the first time; rejected when none can run here. */
  readonly url: Promise<string>;
  readonly #dataDir: string;
  readonly #port: number;
  readonly #say: (line: string) => void;
  readonly #stopping = new AbortController();
  readonly #kept: Promise<void>;
  #running: Promise<EmbeddedPostgres>;

  constructor(dataDir: string, port: number, say: (line: string) => void) {
    this.#dataDir = dataDir;
    this.#port = port;
    this.#say = say;
    this.#running = startEmbeddedPostgres({ dataDir, port });
    this.url = this.#running.then(({ url }) => url);
    // What stops it is a stop, or a first start that failed, which `url` tells.
    this.#kept = this.#keep().catch(() => {});
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#end({ immediate: false });
    await this.#kept;
  }

  /** For a person who will not wait; the next start recovers. */
  async endAtOnce(): Promise<void> {
    this.#stopping.abort();
    await this.#end({ immediate: true });
  }

  async #end(options: { immediate: boolean }): Promise<void> {
    // One that could not be started needs no end.
    const postgres = await this.#running.catch(() => undefined);
    await postgres?.stop(options);
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stopping;
    const delays = backoff({ firstMs: 500 });
    let postgres = await this.#running;
    while (!signal.aborted) {
      const code = await postgres.exited;
      while (!signal.aborted) {
        const delayMs = delays.next().value;
        this.#say(`postgres ended (${code ?? 'by a signal'}); starting it again in ${(delayMs / 1000).toFixed(1)} s`);
        await sleep(delayMs, signal);
        this.#running = startEmbeddedPostgres({ dataDir: this.#dataDir, port: this.#port });
        try {
          postgres = await this.#running;
          break;
        } catch (error) {
          this.#say(`postgres: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
    }
  }
}
