/** Runs the calls of one worker in the primary process, and knows what the worker has in flight, which its end releases. */
import type { Logger } from '@kasgres/runtime';
import { toHttpError } from '../http/errors.ts';
import type { LocalAdmission, LocalKey } from '../limits/admission.ts';
import { type Call, type CallError, Outbox, type Reply } from './messages.ts';

interface InFlight {
  /** As it was found last. */
  apiKey: LocalKey;
  count: number;
}

export class AdmissionHost {
  readonly #admission: LocalAdmission;
  readonly #logger: Logger;
  readonly #outbox: Outbox<Reply>;
  /** By the name of the bucket. */
  readonly #inFlight = new Map<string, InFlight>();
  #isClosed = false;

  constructor(admission: LocalAdmission, send: (replies: Reply[]) => void, logger: Logger) {
    this.#admission = admission;
    this.#outbox = new Outbox(send);
    this.#logger = logger;
  }

  receive(calls: readonly Call[]): void {
    for (const call of calls) {
      if (call.do === 'release') this.#release(call.bucket);
      else void this.#reply(call);
    }
  }

  /** Releases everything that the worker has in flight. */
  close(): void {
    this.#isClosed = true;
    for (const [bucket, { count }] of this.#inFlight) {
      for (let left = count; left > 0; left -= 1) this.#release(bucket);
    }
  }

  async #reply(call: Exclude<Call, { do: 'release' }>): Promise<void> {
    let reply: Omit<Reply, 'id'>;
    try {
      if (call.do === 'isInForce') reply = { isInForce: await this.#admission.isInForce(call.key) };
      else reply = call.do === 'chargeMore' ? await this.#chargeMore(call) : await this.#admit(call);
    } catch (error) {
      reply = { error: this.#toCallError(error) };
    }
    this.#outbox.add({ ...reply, id: call.id });
  }

  async #admit(call: Call & { do: 'admit' | 'admitAnonymous' }): Promise<Omit<Reply, 'id'>> {
    const admitted =
      call.do === 'admit'
        ? await this.#admission.admit(call.key, call.ru)
        : await this.#admission.admitAnonymous(call.client, call.ru);
    if (admitted === undefined) return {};
    const { apiKey } = admitted;
    const { name, rateRu, windowSeconds } = apiKey.bucket;
    const isBusy = this.#admission.isBusy(apiKey);
    const message = {
      id: apiKey.id === null ? null : String(apiKey.id),
      readOnly: apiKey.readOnly,
      isBusy,
      name,
      rateRu,
      windowSeconds,
    };
    if (admitted.verdict === undefined) return { key: message, error: this.#toCallError(admitted.error) };
    const { verdict } = admitted;
    if (verdict.refusal === undefined) {
      const count = (this.#inFlight.get(name)?.count ?? 0) + 1;
      this.#inFlight.set(name, { apiKey, count });
      if (this.#isClosed) this.#release(name);
    }
    return { key: message, verdict };
  }

  async #chargeMore({ bucket, first, ru }: Call & { do: 'chargeMore' }): Promise<Omit<Reply, 'id'>> {
    const inFlight = this.#inFlight.get(bucket);
    if (inFlight === undefined) throw new Error(`${bucket} has nothing in flight`);
    return { verdict: await this.#admission.chargeMore(inFlight.apiKey, first, ru) };
  }

  #release(bucket: string): void {
    const inFlight = this.#inFlight.get(bucket);
    if (inFlight === undefined) return;
    this.#admission.release(inFlight.apiKey);
    inFlight.count -= 1;
    if (inFlight.count === 0) this.#inFlight.delete(bucket);
  }

  #toCallError(error: unknown): CallError {
    const known = toHttpError(error);
    if (known === undefined) this.#logger.error({ err: error }, 'could not admit a request');
    const message = error instanceof Error ? error.message : String(error);
    if (known === undefined) return { message };
    return { message: known.message, statusCode: known.statusCode, retryAfterSeconds: known.retryAfterSeconds };
  }
}
