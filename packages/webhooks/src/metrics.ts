import { Counter, Gauge, Histogram, type Registry } from '@kasgres/runtime';
import type { Outcome } from './attempt.ts';
import type { WebhookQueue } from './queue.ts';

/**
 * Registers the metrics of deliveries. Returns what each outcome must be given to.
 * @param overdueMs returns for how long something has been due
 */
export function watchWebhooks(
  registry: Registry,
  queue: WebhookQueue,
  overdueMs: () => number,
): (outcome: Outcome) => void {
  const registers = [registry];
  const overdue = new Gauge({
    name: 'kasgres_webhooks_overdue_seconds',
    help: 'For how long a delivery that is due has not been attempted, a step not been read, or an attempt not ended in time; 0 while another process delivers',
    registers: [],
    collect() {
      this.set(overdueMs() / 1000);
    },
  });
  registry.registerMetric(overdue);
  const webhooks = new Gauge({
    name: 'kasgres_webhooks_registered',
    help: 'Webhooks by status; those of revoked keys do not count as active',
    labelNames: ['status'],
    registers,
  });
  const lag = new Gauge({
    name: 'kasgres_webhooks_lag_seconds',
    help: 'Age of the oldest delivery that an active webhook has not confirmed',
    registers,
    async collect() {
      const { active, disabled, lagSeconds } = await queue.count();
      webhooks.set({ status: 'active' }, active);
      webhooks.set({ status: 'disabled' }, disabled);
      lag.set(lagSeconds);
    },
  });
  const attempts = new Counter({
    name: 'kasgres_webhooks_attempts_total',
    help: 'Attempts of deliveries, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'kasgres_webhooks_attempt_seconds',
    help: 'Duration of attempts',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15],
    registers,
  });
  return ({ error, statusCode, latencyMs }) => {
    attempts.inc({ outcome: error === null ? 'delivered' : statusCode === null ? 'no_response' : 'refused' });
    seconds.observe(latencyMs / 1000);
  };
}
