/**
 * Delivers the steps of the chain to webhooks (docs/webhooks.md). A webhook has one delivery at a time: its body is stored, attempted until the
 * receiver confirms it, and only then the cursor moves. So a delivery may arrive twice, but none is left out, and none overtakes another.
 *
 * One process delivers; others wait for its lock and take over when it stops (main.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '@kasgres/database';
import type { Logger } from '@kasgres/runtime';
import { HttpError } from '../http/errors.ts';
import type { IndexReader } from '../index-state/state.ts';
import { eventsOf, type Message, messagesOf, requestFor, type Subscription } from '../stream/messages.ts';
import { readStep, type Step } from '../stream/read-step.ts';
import { attempt, type Outcome } from './attempt.ts';
import {
  type ActiveWebhook,
  type Definition,
  type NewDelivery,
  type PendingDelivery,
  retryPause,
  type WebhookQueue,
} from './queue.ts';
import { type SecretBox, sign } from './secrets.ts';
import type { AllowedRange } from './targets.ts';

/** Attempts of deliveries at once. Receivers that hang take a slot for up to 15 seconds. */
const DELIVERY_SLOTS = 200;
/** Attempts of tests at once. Their slots are separate, so that tests and deliveries never wait for each other. */
const TEST_SLOTS = 20;
const POLL_MS = 1000;
const RETRY_MS = 1000;
/** A step that cannot be read or stored delays the others by the time limit of a statement at each retry. */
const MAX_STEP_RETRY_MS = 60_000;

export interface DelivererOptions {
  index: IndexReader;
  queue: WebhookQueue;
  openSecrets: () => Promise<SecretBox>;
  allowed: readonly AllowedRange[];
  logger: Logger;
  onOutcome?: (outcome: Outcome) => void;
}

/** The attempts in flight by webhook: at most one for each webhook, and at most `max` together. */
interface Slots {
  readonly max: number;
  readonly busy: Map<bigint, Promise<void>>;
}

export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #deliveries: Slots = { max: DELIVERY_SLOTS, busy: new Map() };
  readonly #tests: Slots = { max: TEST_SLOTS, busy: new Map() };
  readonly #definitions = new Map<bigint, { revision: number; subscription: Subscription }>();
  /** Cursors whose step could not be read or stored, with the time of the next retry. */
  readonly #failedCursors = new Map<string, { failures: number; retryAt: number }>();
  #isAwake = false;
  #onWake: () => void = () => {};

  constructor(options: DelivererOptions) {
    this.#options = options;
  }

  /** Must be called when the chain or the webhooks may have changed. */
  wake(): void {
    this.#isAwake = true;
    this.#onWake();
  }

  /** Delivers until the signal is aborted, then waits for attempts, which are aborted, too. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.wake(), { once: true });
    while (!signal.aborted) {
      this.#isAwake = false;
      let pauseMs = POLL_MS;
      try {
        pauseMs = Math.min(pauseMs, await this.#round(signal));
      } catch (error) {
        this.#options.logger.warn({ reason: String(error) }, 'could not read webhooks, retrying');
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
      if (!this.#isAwake) await this.#nextWake(pauseMs);
    }
    await Promise.all([...this.#deliveries.busy.values(), ...this.#tests.busy.values()]);
  }

  /** Resolves when woken, or after a pause. */
  async #nextWake(pauseMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onWake = resolve;
    const timer = setTimeout(resolve, pauseMs);
    await promise;
    clearTimeout(timer);
  }

  /** Returns the pause until the next retry is due, in milliseconds. */
  async #round(signal: AbortSignal): Promise<number> {
    const { queue } = this.#options;
    const listed = await queue.listActive();
    this.#forgetAllBut(listed);
    const active = listed.filter(({ id }) => !this.#deliveries.busy.has(id));
    let pauseMs = Number.POSITIVE_INFINITY;
    for (const { id, deliveryId, dueInMs } of active) {
      if (deliveryId === null) continue;
      if (dueInMs <= 0) this.#start(this.#deliveries, id, deliveryId, signal);
      else pauseMs = Math.min(pauseMs, dueInMs);
    }
    for (const { id, webhookId } of await queue.listTests()) this.#start(this.#tests, webhookId, id, signal);
    const idle = active.filter(({ deliveryId }) => deliveryId === null);
    if (idle.length > 0) await this.#advanceAll(idle, signal);
    return pauseMs;
  }

  async #advanceAll(idle: readonly ActiveWebhook[], signal: AbortSignal): Promise<void> {
    await this.#loadDefinitions(idle);
    // Not the state in memory: the commit that woke this round may be newer.
    const sinkHash = await this.#options.index.read(async ({ state }) => state.sinkHash, 'webhooks');
    const groups = Map.groupBy(idle, ({ cursor }) => cursor);
    for (const cursor of this.#failedCursors.keys()) if (!groups.has(cursor)) this.#failedCursors.delete(cursor);
    for (const [cursor, webhooks] of groups) {
      const { retryAt = 0 } = this.#failedCursors.get(cursor) ?? {};
      if (cursor === sinkHash || retryAt > performance.now()) continue;
      if (signal.aborted) return;
      try {
        await this.#advance(cursor, webhooks, signal);
        this.#failedCursors.delete(cursor);
      } catch (error) {
        const retryInMs = this.#postpone(cursor);
        // Every other cursor would fail, too.
        if (signal.aborted || isDatabaseUnavailable(error)) throw error;
        const fields = { cursor, webhooks: webhooks.length, retryInMs, reason: String(error) };
        this.#options.logger.warn(fields, 'could not read or store the step of webhooks, retrying later');
      }
    }
  }

  /** Returns the pause before the next retry, in milliseconds. */
  #postpone(cursor: string): number {
    const failures = (this.#failedCursors.get(cursor)?.failures ?? 0) + 1;
    const pauseMs = Math.min(retryPause(failures), MAX_STEP_RETRY_MS);
    this.#failedCursors.set(cursor, { failures, retryAt: performance.now() + pauseMs });
    return pauseMs;
  }

  /** Reads the step after a block once for all webhooks that are there. */
  async #advance(cursor: string, webhooks: readonly ActiveWebhook[], signal: AbortSignal): Promise<void> {
    const { index, queue, logger } = this.#options;
    const subscriptions = webhooks.map((webhook) => this.#subscriptionOf(webhook));
    const request = requestFor(subscriptions);
    let step: Step | undefined;
    try {
      step = await index.read((reading) => readStep(reading, cursor, request), 'webhooks');
    } catch (error) {
      if (!(error instanceof HttpError) || error.statusCode >= 500) throw error;
      // The past of this block is not known: only the owner can say where to continue.
      for (const webhook of webhooks) {
        const isDisabled = await queue.disable(webhook, error.message);
        if (isDisabled) logger.warn({ webhook: String(webhook.id), reason: error.message }, 'disabled a webhook');
      }
      return;
    }
    if (step === undefined) return;
    // There may be more steps, and there are deliveries to attempt.
    this.#isAwake = true;
    const recipients: Recipient[] = [];
    const others: ActiveWebhook[] = [];
    for (const [place, webhook] of webhooks.entries()) {
      const messages = messagesOf(step, subscriptions[place] as Subscription);
      if (messages.length === 0) others.push(webhook);
      else recipients.push({ webhook, messages });
    }
    await queue.moveCursors(others, cursor, step.to);
    await queue.addDeliveries(deliveriesOf(step, recipients, signal));
  }

  #forgetAllBut(listed: readonly ActiveWebhook[]): void {
    const ids = new Set(listed.map(({ id }) => id));
    for (const id of this.#definitions.keys()) if (!ids.has(id)) this.#definitions.delete(id);
  }

  async #loadDefinitions(webhooks: readonly ActiveWebhook[]): Promise<void> {
    const missing = webhooks.filter(({ id, revision }) => this.#definitions.get(id)?.revision !== revision);
    if (missing.length === 0) return;
    for (const definition of await this.#options.queue.listDefinitions(missing.map(({ id }) => id))) {
      this.#definitions.set(definition.id, { revision: definition.revision, subscription: toSubscription(definition) });
    }
  }

  /** A webhook that was changed or deleted since it was listed is refused later, by its revision. */
  #subscriptionOf({ id }: ActiveWebhook): Subscription {
    return this.#definitions.get(id)?.subscription ?? NOTHING;
  }

  #start({ max, busy }: Slots, webhookId: bigint, deliveryId: bigint, signal: AbortSignal): void {
    if (busy.has(webhookId) || busy.size >= max) return;
    const running = this.#attempt(deliveryId, signal)
      .catch((error: unknown) => {
        this.#options.logger.warn({ reason: String(error) }, 'could not deliver to a webhook');
        return sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      })
      .finally(() => {
        busy.delete(webhookId);
        this.wake();
      });
    busy.set(webhookId, running);
  }

  async #attempt(deliveryId: bigint, signal: AbortSignal): Promise<void> {
    const { queue, openSecrets, allowed, logger, onOutcome } = this.#options;
    const delivery = await queue.findDelivery(deliveryId);
    if (delivery === undefined) return;
    const headers = headersOf(delivery, await openSecrets());
    const { url, body } = delivery;
    const outcome = await attempt({ url, headers, body, allowed, signal });
    // An attempt that this program aborted says nothing about the receiver.
    if (signal.aborted && outcome.error !== null) return;
    const { statusCode, latencyMs, error } = outcome;
    const fields = { webhook: String(delivery.webhookId), delivery: String(deliveryId), statusCode, latencyMs };
    if (error === null) logger.debug(fields, 'delivered to a webhook');
    else logger.info({ ...fields, reason: error }, 'a webhook failed, retrying later');
    onOutcome?.(outcome);
    const reason = await queue.finish(delivery, outcome);
    if (reason !== null) logger.warn({ webhook: fields.webhook, reason }, 'disabled a webhook');
  }
}

/** A webhook with its messages of a step. Webhooks share messages, but not bodies. */
interface Recipient {
  webhook: ActiveWebhook;
  messages: readonly Message[];
}

/**
 * Makes one body at a time, since those of hundreds of webhooks take hundreds of megabytes. Stops when the signal is aborted: the cursors of the other
 * webhooks have not moved.
 */
function* deliveriesOf(step: Step, recipients: readonly Recipient[], signal: AbortSignal): Generator<NewDelivery> {
  for (const { webhook, messages } of recipients) {
    if (signal.aborted) return;
    const { id: webhookId, revision, sequence } = webhook;
    yield { webhookId, revision, sequence, cursor: step.to, body: bodyOf(step, messages) };
  }
}

const NOTHING: Subscription = { events: new Set(), addresses: new Set(), confirmations: undefined, withIds: false };

const toSubscription = ({ events, addresses, confirmations, withIds }: Definition): Subscription => ({
  events: eventsOf(events, addresses),
  addresses: new Set(addresses),
  confirmations: confirmations ?? undefined,
  withIds,
});

function headersOf(delivery: PendingDelivery, secrets: SecretBox): Record<string, string> {
  const { id, webhookId, sequence, body, secret, previousSecret } = delivery;
  const messageId = sequence === null ? `msg_${webhookId}_test_${id}` : `msg_${webhookId}_${sequence}`;
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    'content-type': 'application/json',
    'user-agent': 'kasgres',
    'webhook-id': messageId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(secrets.decryptSigning(secret, previousSecret), messageId, timestamp, body),
  };
}

function bodyOf(step: Step, messages: readonly Message[]): string {
  const events = messages.map(({ event, data }) => `{"event":"${event}","data":${data}}`);
  const timestamp = new Date().toISOString();
  return `{"type":"kasgres.step","timestamp":"${timestamp}","data":{"previous":"${step.from}","cursor":"${step.to}","events":[${events.join(',')}]}}`;
}

/** A delivery without events, which `POST /v1/webhooks/{id}/test` asks for. */
export const testBodyOf = (cursor: string): string =>
  JSON.stringify({
    type: 'kasgres.test',
    timestamp: new Date().toISOString(),
    data: { previous: cursor, cursor, events: [] },
  });
