import { SharedRead } from '@kasgres/reads';
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
  // Without the database, the other metrics are still served.
  const readCounts = () =>
    queue.count().catch(() => ({ active: Number.NaN, disabled: Number.NaN, lagSeconds: Number.NaN }));
  // A scrape collects all gauges at once.
  const counts = new SharedRead<Awaited<ReturnType<typeof readCounts>>>({ lifeMs: 1, burst: 1 });
  const count = () => counts.get(readCounts);
  const webhooks: Gauge<'status'> = new Gauge({
    name: 'kasgres_webhooks_registered',
    help: 'Webhooks by status; those of revoked keys do not count as active; NaN while the database is unavailable',
    labelNames: ['status'],
    registers,
    async collect() {
      const { active, disabled } = await count();
      webhooks.set({ status: 'active' }, active);
      webhooks.set({ status: 'disabled' }, disabled);
    },
  });
  const lag: Gauge = new Gauge({
    name: 'kasgres_webhooks_lag_seconds',
    help: 'Age of the oldest delivery that an active webhook has not confirmed; NaN while the database is unavailable',
    registers,
    // A gauge that another one sets would be a scrape late.
    collect: async () => lag.set((await count()).lagSeconds),
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
