import { createRegistry } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { watchWebhooks } from './metrics.ts';
import type { WebhookQueue } from './queue.ts';

const metricsOf = async (count: WebhookQueue['count']): Promise<string> => {
  const registry = createRegistry('webhooks');
  watchWebhooks(registry, { count } as WebhookQueue, () => 61_000);
  return await registry.metrics();
};

test('the first scrape has the number of webhooks', async () => {
  let reads = 0;
  const metrics = await metricsOf(async () => {
    reads += 1;
    return { active: 3, disabled: 1, lagSeconds: 7 };
  });
  expect(reads).toBe(1);
  expect(metrics).toContain('kasgres_webhooks_registered{status="active",program="webhooks"} 3');
  expect(metrics).toContain('kasgres_webhooks_registered{status="disabled",program="webhooks"} 1');
  expect(metrics).toContain('kasgres_webhooks_lag_seconds{program="webhooks"} 7');
});

test('without the database, what is overdue is still told', async () => {
  const metrics = await metricsOf(async () => await Promise.reject(new Error('connect ECONNREFUSED')));
  expect(metrics).toContain('kasgres_webhooks_overdue_seconds{program="webhooks"} 61');
  expect(metrics).toContain('kasgres_webhooks_lag_seconds{program="webhooks"} Nan');
});
