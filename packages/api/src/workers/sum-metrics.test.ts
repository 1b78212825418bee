import { Counter, Gauge, Histogram, type Metrics, Registry } from '@kasgres/runtime';
import { expect, it } from 'vitest';
import { addEnded, sumMetrics, withNaN } from './sum-metrics.ts';

async function processWith(requests: number, lag: number): Promise<Metrics> {
  const registry = new Registry();
  registry.setDefaultLabels({ program: 'api' });
  const registers = [registry];
  new Counter({ name: 'requests', help: 'r', labelNames: ['route'], registers }).inc({ route: '/a' }, requests);
  new Gauge({ name: 'lag', help: 'l', aggregator: 'max', registers }).set(lag);
  new Gauge({ name: 'connections', help: 'c', registers }).set(3);
  new Histogram({ name: 'seconds', help: 's', buckets: [1], registers }).observe(0.5);
  const sent = JSON.parse(JSON.stringify(await registry.getMetricsAsJSON())) as Metrics;
  return withNaN(sent);
}

it('sums counters, histograms and gauges, except those with another aggregator', async () => {
  const text = await sumMetrics([await processWith(2, 5), await processWith(3, 1)]);
  expect(text).toContain('requests{route="/a",program="api"} 5');
  expect(text).toContain('connections{program="api"} 6');
  expect(text).toContain('lag{program="api"} 5');
  expect(text).toContain('seconds_bucket{le="+Inf",program="api"} 2');
  expect(text).toContain('seconds_count{program="api"} 2');
});

it('keeps what ended processes have counted, but not their gauges', async () => {
  const ended = await addEnded(await addEnded([], await processWith(2, 5)), await processWith(4, 5));
  const text = await sumMetrics([await processWith(3, 1), ended]);
  expect(text).toContain('requests{route="/a",program="api"} 9');
  expect(text).toContain('connections{program="api"} 3');
  expect(text).toContain('lag{program="api"} 1');
  expect(text).toContain('seconds_count{program="api"} 3');
});

it('keeps a gauge that cannot be read', async () => {
  expect(await sumMetrics([await processWith(1, Number.NaN), await processWith(1, 2)])).toMatch(/lag\{.*\} Nan/i);
});
