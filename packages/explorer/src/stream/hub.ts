/**
 * Holds one stream for all pages of the browser, and closes it while none of them is visible. It
 * continues at its cursor if only the subscriptions change, and otherwise begins at the sink of
 * that moment.
 */
import { ApiError, createClient, StreamError, type StreamEvent } from '@kasgres/client';
import { applyMempoolChange, type Mempool } from './mempool.ts';
import type { FromHub, PageState, Sink } from './messages.ts';

interface Page {
  state: PageState | undefined;
  /** The subscription that the server refused, which is not sent again. */
  refused: string | undefined;
  send: (message: FromHub) => void;
}

export interface PageConnection {
  update: (state: PageState) => void;
  close: () => void;
}

interface Subscription {
  addresses: readonly string[];
  hasMempool: boolean;
}

const RETRY_MS = 3000;
/**
 * After a longer silence, as when the computer slept, pages load their data again instead of
 * catching up.
 */
const MOST_MISSED_MS = 120_000;

/** The stream has missed too much to continue at its cursor. */
class OutdatedError extends StreamError {}

export class StreamHub {
  readonly #baseUrl: string;
  readonly #pages = new Set<Page>();
  /** The subscription of the current stream, as text. */
  #wanted = '';
  #key: string | undefined;
  #cursor: string | undefined;
  #stream: AbortController | undefined;
  /** When the cursor moved. */
  #movedAt = 0;
  /** Set once the current stream has begun. */
  #sink: Sink | undefined;
  #isLost = false;
  /** Pages that join later receive it as a snapshot. */
  #mempool: Mempool | undefined;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  connect(send: (message: FromHub) => void): PageConnection {
    const page: Page = { state: undefined, refused: undefined, send };
    this.#pages.add(page);
    return {
      update: (state) => {
        const old = page.state;
        page.state = state;
        if (page.refused !== wishOf(state)) page.refused = undefined;
        this.#update();
        if (page.refused === undefined && state.isVisible && old?.isVisible !== true) this.#welcome(page);
        if (state.isVisible && state.wantsMempool && !(old?.isVisible === true && old.wantsMempool))
          this.#sendMempool(page);
      },
      close: () => {
        this.#pages.delete(page);
        this.#update();
      },
    };
  }

  #welcome({ send }: Page): void {
    // The page loaded its data before it received events of the stream, or was hidden and missed
    // those of its addresses.
    if (this.#sink !== undefined) send({ type: 'begin', sink: this.#sink });
    if (this.#isLost) send({ type: 'connection', isLost: true });
  }

  #sendMempool({ send }: Page): void {
    if (this.#mempool === undefined) return;
    const data = { added: [...this.#mempool.values()], removed: [], isSnapshot: true };
    send({ type: 'events', events: [{ event: 'mempool', data }] });
  }

  /** Lists the visible pages, without those that are refused. */
  #listServed(): (Page & { state: PageState })[] {
    return [...this.#pages].filter(
      (page): page is Page & { state: PageState } => page.state?.isVisible === true && page.refused === undefined,
    );
  }

  #update(): void {
    const visible = this.#listServed().map(({ state }) => state);
    // Each page has the key of its tab, or none.
    const key = visible.find(({ apiKey }) => apiKey !== undefined)?.apiKey;
    const addresses = [...new Set(visible.flatMap((state) => state.addresses))].sort();
    const hasMempool = visible.some(({ wantsMempool }) => wantsMempool);
    const wanted = visible.length === 0 ? '' : JSON.stringify([key ?? null, addresses, hasMempool]);
    if (wanted === this.#wanted) return;
    const isContinued = this.#wanted !== '' && key === this.#key;
    this.#wanted = wanted;
    this.#key = key;
    this.#stream?.abort();
    this.#stream = undefined;
    this.#mempool = undefined;
    if (!isContinued) this.#restart();
    if (wanted === '') return;
    this.#stream = new AbortController();
    void this.#run(this.#stream.signal, key, { addresses, hasMempool });
  }

  #moveTo(cursor: string | undefined): void {
    this.#cursor = cursor;
    this.#movedAt = Date.now();
  }

  #restart(): void {
    this.#cursor = undefined;
    this.#sink = undefined;
  }

  async #run(signal: AbortSignal, apiKey: string | undefined, subscription: Subscription): Promise<void> {
    const { addresses, hasMempool } = subscription;
    const fetch = (request: Request): Promise<Response> => this.#fetch(request, signal);
    const client = createClient({ baseUrl: this.#baseUrl, apiKey, fetch });
    const events = ['chain', 'block', ...(hasMempool ? (['mempool'] as const) : [])] as const;
    while (!signal.aborted) {
      try {
        let from = this.#cursor;
        if (from === undefined) {
          const loaded = await client.get('/v1/network', { signal });
          const { network, sink, blueScore, timestamp } = loaded;
          from = sink;
          this.#moveTo(sink);
          this.#sink = { network, sink, blueScore, timestamp };
          // The pages load their data after this, so that no event is missing between both.
          this.#send({ type: 'begin', sink: this.#sink, loaded });
        }
        for await (const step of client.subscribe({ events, addresses, from, signal })) {
          if (signal.aborted) return;
          this.#moveTo(step.cursor ?? this.#cursor);
          this.#receive(step.events);
        }
      } catch (error) {
        if (signal.aborted) return;
        const refusal = refusalOf(error);
        if (refusal !== undefined) {
          this.#refuse(refusal, apiKey, addresses);
          return;
        }
        this.#restart();
        if (error instanceof OutdatedError) continue;
        this.#setLost(true);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** The pages that caused it get the error, and the stream continues for the others. */
  #refuse(refusal: Refusal, apiKey: string | undefined, addresses: readonly string[]): void {
    const served = this.#listServed();
    const wrong = new Set(refusal.details.map(({ path }) => addresses[Number(/^addresses\.(\d+)/.exec(path)?.[1])]));
    const withWrong = served.filter(({ state }) => state.addresses.some((address) => wrong.has(address)));
    // Pages without a key use that of another page.
    const withKey = served.filter(({ state }) => state.apiKey === apiKey);
    const first = [withWrong, withKey, served].find(({ length }) => length > 0);
    for (const page of first ?? []) {
      page.refused = wishOf(page.state);
      page.send({ type: 'refused', message: refusal.message });
    }
    this.#update();
  }

  /** The client connects again without a word, so failures are noticed here. */
  async #fetch(request: Request, signal: AbortSignal): Promise<Response> {
    if (this.#cursor !== undefined && Date.now() - this.#movedAt > MOST_MISSED_MS)
      throw new OutdatedError(409, 'Too much has happened since the cursor');
    try {
      const response = await globalThis.fetch(request);
      if (!signal.aborted) this.#setLost(!response.ok && !FINAL.has(response.status));
      return response;
    } catch (error) {
      if (!signal.aborted) this.#setLost(true);
      throw error;
    }
  }

  #setLost(isLost: boolean): void {
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    // Changes are missing until the next snapshot.
    if (isLost) this.#mempool = undefined;
    this.#send({ type: 'connection', isLost });
  }

  #receive(events: StreamEvent[]): void {
    for (const { event, data } of events) {
      if (event === 'mempool') this.#mempool = applyMempoolChange(this.#mempool, data);
      const top = event === 'chain' ? data.added.at(-1) : undefined;
      if (top !== undefined && this.#sink !== undefined) {
        this.#sink = { ...this.#sink, sink: top.hash, blueScore: top.blueScore, timestamp: top.timestamp };
      }
    }
    this.#send({ type: 'events', events });
  }

  /** Hidden pages are welcomed when they are shown again. */
  #send(message: FromHub): void {
    for (const { send } of this.#listServed()) send(message);
  }
}

interface Refusal {
  message: string;
  details: readonly { path: string }[];
}

/** Statuses that a retry does not change. */
const FINAL = new Set([400, 401, 403]);

function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof StreamError && FINAL.has(error.statusCode)) return error;
  return error instanceof ApiError && FINAL.has(error.status) ? error : undefined;
}

/** The subscription of a page as a text. */
const wishOf = ({ apiKey, addresses, wantsMempool }: PageState): string =>
  JSON.stringify([apiKey ?? null, addresses, wantsMempool]);
