/**
 * Admits the requests of a worker by calls to the primary process. Messages cost more than calls, so calls are collected while others are running,
 * for a short time, and releases are sent with the calls after them unless the key is close to its limit of requests in flight.
 */
import { HttpError } from '../http/errors.ts';
import type { Admission, Admitted, RequestKey } from '../limits/admission.ts';
import { isKey } from '../limits/key-cache.ts';
import type { Charge, Verdict } from '../limits/limits.ts';
import { parseToken } from '../limits/stream-tokens.ts';
import type { Call, CallError, KeyMessage, Reply } from './messages.ts';

const MAX_DELAY_MS = 2;

interface RemoteKey extends RequestKey {
  isBusy: boolean;
}

export class RemoteAdmission implements Admission<RemoteKey> {
  readonly #pending = new Map<number, (reply: Reply) => void>();
  readonly #send: (calls: Call[]) => void;
  #lastId = 0;
  #calls: Call[] = [];
  /** Whether a call is collected that a request waits for. */
  #isUrgent = false;
  #isRunning = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (calls: Call[]) => void) {
    this.#send = send;
  }

  async admit(key: string, ru: number): Promise<Admitted<RemoteKey> | undefined> {
    if (!isKey(key) && parseToken(key) === undefined) return undefined;
    return this.#admitted(await this.#call((id) => ({ id, do: 'admit', key, ru })));
  }

  async admitAnonymous(client: string, ru: number): Promise<Admitted<RemoteKey> | undefined> {
    return this.#admitted(await this.#call((id) => ({ id, do: 'admitAnonymous', client, ru })));
  }

  #admitted(reply: Reply): Admitted<RemoteKey> | undefined {
    const error = reply.error && toError(reply.error);
    if (reply.key === undefined) {
      if (error !== undefined) throw error;
      return undefined;
    }
    const apiKey = toRemoteKey(reply.key);
    return error === undefined ? { apiKey, verdict: reply.verdict as Verdict } : { apiKey, error };
  }

  async chargeMore({ bucket }: RemoteKey, first: Charge | null, ru: number): Promise<Verdict> {
    const { verdict, error } = await this.#call((id) => ({ id, do: 'chargeMore', bucket: bucket.name, first, ru }));
    if (error !== undefined) throw toError(error);
    return verdict as Verdict;
  }

  async isInForce(key: string): Promise<boolean> {
    const { isInForce, error } = await this.#call((id) => ({ id, do: 'isInForce', key }));
    if (error !== undefined) throw toError(error);
    return isInForce === true;
  }

  release({ bucket, isBusy }: RemoteKey): void {
    this.#lastId += 1;
    this.#add({ id: this.#lastId, do: 'release', bucket: bucket.name });
    if (isBusy) this.#flush();
  }

  /** Usage is kept and written by the primary process. */
  async close(): Promise<void> {
    this.#flush();
  }

  receive(replies: readonly Reply[]): void {
    this.#isRunning = false;
    for (const reply of replies) {
      this.#pending.get(reply.id)?.(reply);
      this.#pending.delete(reply.id);
    }
    if (this.#isUrgent) this.#flush();
  }

  #call(toCall: (id: number) => Call): Promise<Reply> {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#pending.set(id, resolve);
    this.#add(toCall(id));
    if (!this.#isUrgent && !this.#isRunning) setImmediate(() => this.#flush());
    this.#isUrgent = true;
    return promise;
  }

  #add(call: Call): void {
    this.#calls.push(call);
    this.#timer ??= setTimeout(() => this.#flush(), MAX_DELAY_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#calls.length === 0) return;
    this.#isRunning ||= this.#isUrgent;
    this.#isUrgent = false;
    const calls = this.#calls;
    this.#calls = [];
    this.#send(calls);
  }
}

const toRemoteKey = ({ id, readOnly, isBusy, ...bucket }: KeyMessage): RemoteKey => ({
  id: id === null ? null : BigInt(id),
  readOnly,
  isBusy,
  bucket,
});

const toError = ({ message, statusCode, retryAfterSeconds }: CallError): Error =>
  statusCode === undefined
    ? new Error(message)
    : new HttpError(statusCode, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
