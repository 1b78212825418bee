/**
 * Holds one stream for all pages of the browser, and closes it while none of them is visible. It continues at its cursor if only
 * the addresses change, and otherwise begins at the sink of that moment.
 */
import { ApiError, createClient, StreamError } from '@kasgres/client';
import type { FromHub, PageState, StreamMessage } from './messages.ts';

interface Page {
  state: PageState | undefined;
  send: (message: FromHub) => void;
}

export interface PageConnection {
  update: (state: PageState) => void;
  close: () => void;
}

const RETRY_MS = 3000;

export class StreamHub {
  readonly #baseUrl: string;
  readonly #pages = new Set<Page>();
  /** What the current stream was opened for. */
  #wanted = '';
  #key: string | undefined;
  #cursor: string | undefined;
  #stream: AbortController | undefined;
  /** Whether the current stream has begun. */
  #isRunning = false;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  connect(send: (message: FromHub) => void): PageConnection {
    const page: Page = { state: undefined, send };
    this.#pages.add(page);
    return {
      update: (state) => {
        const isNew = page.state === undefined;
        page.state = state;
        this.#update(state.apiKey);
        // It loaded its data before it received events of the stream that runs already.
        if (isNew && this.#isRunning) send({ type: 'begin' });
      },
      close: () => {
        this.#pages.delete(page);
        this.#update(this.#key);
      },
    };
  }

  #update(key: string | undefined): void {
    const visible = [...this.#pages].flatMap(({ state }) => (state?.isVisible === true ? [state] : []));
    const addresses = [...new Set(visible.flatMap((state) => state.addresses))].sort();
    const wanted = visible.length === 0 ? '' : JSON.stringify([key ?? null, addresses]);
    if (wanted === this.#wanted) return;
    const isContinued = this.#wanted !== '' && key === this.#key;
    this.#wanted = wanted;
    this.#key = key;
    this.#stream?.abort();
    this.#stream = undefined;
    this.#isRunning = false;
    if (!isContinued) this.#cursor = undefined;
    if (wanted === '') return;
    this.#stream = new AbortController();
    void this.#run(this.#stream.signal, key, addresses);
  }

  async #run(signal: AbortSignal, apiKey: string | undefined, addresses: readonly string[]): Promise<void> {
    const client = createClient({ baseUrl: this.#baseUrl, apiKey });
    while (!signal.aborted) {
      try {
        if (this.#cursor === undefined) {
          // The pages load their data after this, so that no event is missing between both.
          this.#cursor = (await client.get('/v1/rpc/getSink')).sink;
          this.#send({ type: 'begin' });
        }
        this.#isRunning = true;
        const events = ['chain', 'block'] as const;
        for await (const step of client.subscribe({ events, addresses, from: this.#cursor, signal })) {
          if (signal.aborted) return;
          this.#cursor = step.cursor ?? this.#cursor;
          this.#send({ type: 'events', events: step.events as StreamMessage[] });
        }
      } catch (error) {
        const statusCode =
          error instanceof StreamError ? error.statusCode : error instanceof ApiError ? error.status : 0;
        if (signal.aborted) return;
        this.#send({ type: 'refused', statusCode });
        if (statusCode === 401) return;
        this.#cursor = undefined;
        this.#isRunning = false;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #send(message: FromHub): void {
    for (const { send } of this.#pages) send(message);
  }
}
