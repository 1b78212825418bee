/**
 * The latest state of the index in memory. Requests that need only the state share its reads. A
 * state older than FRESH_MS is read again in the background while requests still get it, so that a
 * request waits only after a pause. The state never goes backwards, although reads on several
 * connections may overtake each other.
 */
import type { Awaitable } from '../common/awaitable.ts';
import type { IndexState } from './index-state.ts';

const FRESH_MS = 5;
/** How old the state of a response may be. */
const LIFE_MS = 20;

interface Read {
  startedAt: number;
  state: Promise<IndexState | undefined>;
}

export class LatestState {
  readonly #read: () => Promise<IndexState | undefined>;
  #state: IndexState | undefined;
  /** When the read began that found this state. */
  #readAt = Number.NEGATIVE_INFINITY;
  #running: Read | undefined;

  constructor(read: () => Promise<IndexState | undefined>) {
    this.#read = read;
  }

  /** The newest state that was read, however long ago. */
  get last(): IndexState | undefined {
    return this.#state;
  }

  /** Returns the state of at most LIFE_MS before the call; undefined while nothing is indexed. */
  get(): Awaitable<IndexState | undefined> {
    if (performance.now() - this.#readAt > LIFE_MS) return this.#readNow();
    this.#refresh();
    return this.#state;
  }

  /** Starts a read if the state is older than FRESH_MS. */
  #refresh(): void {
    if (this.#running !== undefined || performance.now() - this.#readAt <= FRESH_MS) return;
    this.#running = this.#start();
    // If it fails, so does the next read, which requests wait for.
    this.#running.state.catch(() => undefined);
  }

  async #readNow(): Promise<IndexState | undefined> {
    const now = performance.now();
    // A read that began earlier may have missed a change before the call.
    while (this.#running !== undefined && this.#running.startedAt + LIFE_MS < now) {
      await this.#running.state.catch(() => undefined);
    }
    this.#running ??= this.#start();
    return this.#running.state;
  }

  #start(): Read {
    const startedAt = performance.now();
    const state = this.#read()
      .then((found) => this.observe(found, startedAt))
      .finally(() => {
        this.#running = undefined;
      });
    return { startedAt, state };
  }

  /** Notes a state that was read from the database, and returns the newest one. */
  observe(state: IndexState | undefined, readAt: number): IndexState | undefined {
    const isNewer = state?.begunAt !== this.#state?.begunAt || (state?.version ?? 0n) > (this.#state?.version ?? 0n);
    if (isNewer) this.#state = state;
    this.#readAt = Math.max(this.#readAt, readAt);
    return this.#state;
  }
}
