/**
 * Delivers the steps of the chain to webhooks (docs/webhooks.md). A webhook has one delivery at a
 * time: its body is stored, attempted until the receiver confirms it, and only then the cursor
 * moves. So a delivery may arrive twice, but none is left out, and none overtakes another.
 *
 * One process delivers; others wait for its lock and take over when it stops (main.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  eventsOf,
  type Message,
  messagesOf,
  NO_SUBSCRIPTION,
  readStep,
  requestFor,
  type Step,
  type Subscription,
  watchesChanges,
  type WebhookMessageJson,
} from '@kasgres/chain-steps';
import { isDatabaseUnavailable } from '@kasgres/database';
import { HttpError, type IndexReader } from '@kasgres/reads';
import type { Logger } from '@kasgres/runtime';
import { LineLimit } from '@kasgres/runtime';
import { attempt, type Outcome } from './attempt.ts';
import { DueTimes } from './due-times.ts';
import {
  type ActiveWebhook,
  type Definition,
  type NewDelivery,
  type PendingDelivery,
  type WebhookQueue,
} from './queue.ts';
import { type Group, ReadingTurns, toGroups } from './reading-turns.ts';
import { Retries } from './retries.ts';
import { type SecretBox, sign } from './secrets.ts';
import { Slots, type Task } from './slots.ts';
import type { AllowedRange } from './targets.ts';

/** Attempts of deliveries at once. */
const DELIVERY_SLOTS = 200;
/**
 * Attempts of tests at once. Their slots are separate, so that tests and deliveries never wait for
 * each other.
 */
const TEST_SLOTS = 20;
const POLL_MS = 1000;
const RETRY_MS = 1000;
/** After this time of reading, due deliveries are attempted before more is read. */
const MAX_READING_MS = 250;
/** An attempt ends within 15 seconds. */
const STUCK_ATTEMPT_MS = 30_000;
const LIMIT_SECRETS_EVERY_MS = 600_000;

export interface DelivererOptions {
  index: IndexReader;
  queue: WebhookQueue;
  openSecrets: () => Promise<SecretBox>;
  allowed: readonly AllowedRange[];
  logger: Logger;
  onOutcome?: (outcome: Outcome) => void;
}

export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #deliveries = new Slots(DELIVERY_SLOTS, () => this.wake());
  readonly #tests = new Slots(TEST_SLOTS, () => this.wake());
  readonly #dueTimes = new DueTimes();
  readonly #turns = new ReadingTurns();
  readonly #definitions = new Map<bigint, { revision: number; subscription: Subscription }>();
  /** Groups whose step could not be read or stored. */
  readonly #failedGroups = new Retries<string>();
  /** Deliveries that could not be read, signed or finished. */
  readonly #failedDeliveries = new Retries<bigint>();
  /** When the deliveries that wait for a slot became due, the earliest first. */
  #waitingSince: number | undefined;
  /** When the latest round ended without an error; undefined while this does not deliver. */
  #roundAt: number | undefined;
  /** Owners of keys choose the receivers. */
  readonly #failureLines = new LineLimit(20);
  #secretsLimitedAt = Number.NEGATIVE_INFINITY;
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

  /**
   * Returns for how long something has been due that has not begun, or an attempt has not ended in
   * time, in milliseconds.
   */
  get overdueMs(): number {
    if (this.#roundAt === undefined) return 0;
    const now = performance.now();
    const failedSince = [this.#failedGroups, this.#failedDeliveries].map((failed) => failed.since ?? now);
    const since = Math.min(this.#roundAt + POLL_MS, this.#waitingSince ?? now, ...failedSince);
    const stuckMs = Math.max(this.#deliveries.longestMs, this.#tests.longestMs) - STUCK_ATTEMPT_MS;
    return Math.max(now - since, stuckMs, 0);
  }

  /** Delivers until the signal is aborted, then waits for attempts, which are aborted, too. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.wake(), { once: true });
    this.#roundAt = performance.now();
    while (!signal.aborted) {
      this.#isAwake = false;
      let pauseMs = POLL_MS;
      try {
        pauseMs = Math.min(pauseMs, await this.#round(signal));
        this.#roundAt = performance.now();
      } catch (error) {
        this.#options.logger.warn({ reason: String(error) }, 'could not read webhooks, retrying');
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
      if (!this.#isAwake) await this.#nextWake(pauseMs);
    }
    await Promise.all([this.#deliveries.allDone(), this.#tests.allDone()]);
    this.#roundAt = undefined;
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
    await this.#limitSecrets();
    const listed = await queue.listActive();
    this.#forgetAllBut(listed);
    const active = listed.filter(({ id }) => !this.#deliveries.has(id));
    const pauseMs = this.#attemptDue(active, signal);
    const tests = await queue.listTests();
    this.#failedDeliveries.forgetAllBut(
      new Set([...listed.flatMap(({ deliveryId }) => deliveryId ?? []), ...tests.map(({ id }) => id)]),
    );
    this.#start(
      this.#tests,
      tests.map(({ id: deliveryId, ...test }) => ({ ...test, deliveryId })),
      signal,
    );
    const idle = active.filter(({ deliveryId }) => deliveryId === null);
    if (idle.length > 0) await this.#advanceAll(idle, signal);
    return pauseMs;
  }

  /**
   * Attempts the deliveries that are due, and returns the pause until the next one is, in
   * milliseconds.
   */
  #attemptDue(active: readonly ActiveWebhook[], signal: AbortSignal): number {
    const pending = active.flatMap(({ deliveryId, ...webhook }) =>
      deliveryId === null ? [] : [{ ...webhook, deliveryId }],
    );
    const dueAt = this.#dueTimes.update(pending);
    const now = performance.now();
    const inOrder = pending
      .map(({ id: webhookId, keyId, deliveryId }) => ({
        webhookId,
        keyId,
        deliveryId,
        at: dueAt.get(webhookId) ?? now,
      }))
      .sort((one, other) => one.at - other.at);
    const due = inOrder.filter(({ at }) => at <= now);
    this.#start(this.#deliveries, due, signal);
    this.#waitingSince = due.find(({ webhookId }) => !this.#deliveries.has(webhookId))?.at;
    return (inOrder[due.length]?.at ?? Number.POSITIVE_INFINITY) - now;
  }

  async #limitSecrets(): Promise<void> {
    if (performance.now() < this.#secretsLimitedAt + LIMIT_SECRETS_EVERY_MS) return;
    await this.#options.queue.limitPreviousSecrets();
    this.#secretsLimitedAt = performance.now();
  }

  async #advanceAll(idle: readonly ActiveWebhook[], signal: AbortSignal): Promise<void> {
    await this.#loadDefinitions(idle);
    // Not the state in memory: the commit that woke this round may be newer.
    const sinkHash = await this.#options.index.read(async ({ state }) => state.sinkHash, 'webhooks');
    const behind = idle.filter(({ cursor }) => cursor !== sinkHash);
    const groups = this.#turns.order(toGroups(behind, (webhook) => this.#subscriptionOf(webhook)));
    this.#failedGroups.forgetAllBut(new Set(groups.map(nameOf)));
    const startedAt = performance.now();
    for (const group of groups) {
      if (this.#failedGroups.isPaused(nameOf(group))) continue;
      if (signal.aborted) return;
      if (performance.now() > startedAt + MAX_READING_MS) {
        this.#isAwake = true;
        return;
      }
      await this.#advanceGroup(group, signal);
    }
  }

  /** @throws an error that every other group would get, too */
  async #advanceGroup(group: Group, signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.#advance(group, signal);
      this.#failedGroups.succeed(nameOf(group));
    } catch (error) {
      const retryInMs = this.#failedGroups.fail(nameOf(group));
      if (signal.aborted || isDatabaseUnavailable(error)) throw error;
      const fields = { cursor: group.cursor, webhooks: group.webhooks.length, retryInMs, reason: String(error) };
      this.#options.logger.warn(fields, 'could not read or store the step of webhooks, retrying later');
    } finally {
      this.#turns.charge(group.webhooks, performance.now() - startedAt);
    }
  }

  /** Reads the step after a block once for all webhooks of a group. */
  async #advance({ cursor, webhooks, subscriptions }: Group, signal: AbortSignal): Promise<void> {
    const { index, queue, logger } = this.#options;
    const request = requestFor(subscriptions);
    let step: Step | undefined;
    try {
      ({ step } = await readStep(index, cursor, request, 'webhooks'));
    } catch (error) {
      if (!(error instanceof HttpError) || error.statusCode >= 500) throw error;
      // The past of this block is not known: only the owner can say where to continue. Webhooks of
      // the chain alone may need less of it.
      const watching = webhooks.filter((_, position) => watchesChanges(subscriptions[position] as Subscription));
      for (const webhook of watching.length > 0 ? watching : webhooks) {
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
    for (const [position, webhook] of webhooks.entries()) {
      const messages = messagesOf(step, subscriptions[position] as Subscription);
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

  /**
   * A webhook that was changed or deleted since it was listed is refused later, by its revision.
   */
  #subscriptionOf({ id }: ActiveWebhook): Subscription {
    return this.#definitions.get(id)?.subscription ?? NO_SUBSCRIPTION;
  }

  #start(slots: Slots, tasks: readonly Task[], signal: AbortSignal): void {
    const ready = tasks.filter(({ deliveryId }) => !this.#failedDeliveries.isPaused(deliveryId));
    slots.start(ready, async ({ webhookId, deliveryId }) => {
      try {
        await this.#attempt(deliveryId, signal);
        this.#failedDeliveries.succeed(deliveryId);
      } catch (error) {
        const retryInMs = this.#failedDeliveries.fail(deliveryId);
        const fields = { webhook: String(webhookId), retryInMs, reason: String(error) };
        if (this.#admitLine()) this.#options.logger.warn(fields, 'could not deliver to a webhook, retrying later');
      }
    });
  }

  #admitLine(): boolean {
    return this.#failureLines.admit((omitted) =>
      this.#options.logger.info({ omitted }, 'omitted log lines of failed webhooks'),
    );
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
    else if (this.#admitLine())
      logger.info({ ...fields, reason: outcome.reason ?? error }, 'a webhook failed, retrying later');
    onOutcome?.(outcome);
    const reason = await queue.finish(delivery, outcome);
    if (reason !== null) logger.warn({ webhook: fields.webhook, reason }, 'disabled a webhook');
  }
}

/** Groups at one cursor differ in their webhooks. */
const nameOf = ({ cursor, webhooks: [first] }: Group): string => `${cursor} ${first?.id}`;

/** A webhook with its messages of a step. Webhooks share messages, but not bodies. */
interface Recipient {
  webhook: ActiveWebhook;
  messages: readonly Message[];
}

/**
 * Makes one body at a time, since those of hundreds of webhooks take hundreds of megabytes. Stops
 * when the signal is aborted: the cursors of the other webhooks have not moved.
 */
function* deliveriesOf(step: Step, recipients: readonly Recipient[], signal: AbortSignal): Generator<NewDelivery> {
  for (const { webhook, messages } of recipients) {
    if (signal.aborted) return;
    const { id: webhookId, revision, sequence } = webhook;
    yield {
      webhookId,
      revision,
      sequence,
      previous: step.from,
      cursor: step.to,
      body: bodyOf('kasgres.step', step, messages),
    };
  }
}

const toSubscription = ({ confirmations, withIds, ...given }: Definition): Subscription => ({
  events: eventsOf(given.events, given),
  addresses: new Set(given.addresses),
  covenants: new Set(given.covenants),
  template: given.template ?? undefined,
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

function bodyOf(
  type: WebhookMessageJson['type'],
  { from, to }: Pick<Step, 'from' | 'to'>,
  messages: readonly Message[],
): string {
  const events = messages.map(({ event, data }) => `{"event":"${event}","data":${data}}`);
  const timestamp = new Date().toISOString();
  return `{"type":"${type}","timestamp":"${timestamp}","data":{"previous":"${from}","cursor":"${to}","events":[${events.join(',')}]}}`;
}

/** A delivery without events, which `POST /v1/webhooks/{id}/test` asks for. */
export const testBodyOf = (cursor: string): string => bodyOf('kasgres.test', { from: cursor, to: cursor }, []);
