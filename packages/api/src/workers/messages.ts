/** Messages between the primary process and its workers, as JSON. */
import type { Charge, Verdict } from '../limits/limits.ts';

export type Call =
  | { id: number; do: 'admit'; key: string; ru: number }
  | { id: number; do: 'admitAnonymous'; client: string; ru: number }
  | { id: number; do: 'chargeMore'; bucket: string; first: Charge | null; ru: number }
  | { id: number; do: 'isInForce'; key: string }
  | { id: number; do: 'release'; bucket: string };

/** `statusCode` is that of an HttpError. */
export interface CallError {
  message: string;
  statusCode?: number | undefined;
  retryAfterSeconds?: number | undefined;
}

/** A RequestKey as a message: JSON has no bigint. */
export interface KeyMessage {
  id: string | null;
  readOnly: boolean;
  /** Whether a late release could cause a refusal. */
  isBusy: boolean;
  name: string;
  rateRu: number;
  windowSeconds: number;
}

/** Without a key, verdict and error, the key is invalid. */
export interface Reply {
  id: number;
  key?: KeyMessage;
  verdict?: Verdict;
  isInForce?: boolean;
  error?: CallError;
}

/** Topics that the primary process reads from a worker. */
export type Topic = 'metrics' | 'ready';

export interface ToPrimary {
  calls?: readonly Call[];
  /** The reply to `get`. */
  got?: { id: number; value: unknown };
  /** The message of a FatalError, which ends the program. */
  fatal?: string;
}

export interface ToWorker {
  replies?: readonly Reply[];
  get?: { id: number; topic: Topic };
}

/** Collects items, and sends those of one turn of the event loop together. */
export class Outbox<T> {
  readonly #send: (items: T[]) => void;
  #items: T[] = [];

  constructor(send: (items: T[]) => void) {
    this.#send = send;
  }

  add(item: T): void {
    if (this.#items.push(item) > 1) return;
    setImmediate(() => {
      const items = this.#items;
      this.#items = [];
      this.#send(items);
    });
  }
}
