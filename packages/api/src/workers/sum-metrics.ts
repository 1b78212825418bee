/** Metrics of several processes as one. */
import { AggregatorRegistry, type Metrics } from '@kasgres/runtime';

/** Sums up, except gauges that declare another aggregator. The result is text for Prometheus. */
export const sumMetrics = (processes: readonly Metrics[]): Promise<string> => aggregate(processes).metrics();

/**
 * Adds the counters and histograms of an ended process to those of earlier ones: sums that fell at
 * its end would look like a restart to Prometheus, which would count all requests of the other
 * processes again.
 */
export function addEnded(earlier: Metrics, ended: Metrics): Promise<Metrics> {
  return aggregate([earlier, ended.filter(({ type }) => COUNTING_TYPES.has(String(type)))]).getMetricsAsJSON();
}

const COUNTING_TYPES = new Set(['counter', 'histogram']);

/** JSON has no NaN, which is the value of a gauge that cannot be read. */
export const withNaN = (metrics: Metrics): Metrics =>
  metrics.map((metric) => ({
    ...metric,
    values: metric.values.map((value) => ({ ...value, value: (value.value as number | null) ?? Number.NaN })),
  }));

const aggregate = (processes: readonly Metrics[]) => AggregatorRegistry.aggregate([...processes]);
