/**
 * The histogram of request times. That of the library makes texts of labels and bucket for each
 * observation, which takes as long as all limits of a request.
 */
import type { Histogram, Registry } from '@kasgres/runtime';

const NAME = 'kasgres_api_request_seconds';
const HELP =
  'Time from the headers of a request to the end of its response, by route template; unknown paths are one route.';
/** In ascending order. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

interface Labels {
  route: string;
  method: string;
  status: string;
}

interface Series {
  labels: Labels;
  /** Observations up to each bound and above the one before; the last are above all bounds. */
  counts: number[];
  sum: number;
}

interface Value {
  metricName: string;
  labels: Partial<Labels> & { le?: number | string };
  value: number;
}

export class RequestSeconds {
  /** By route, method and status. */
  readonly #series = new Map<string, Map<string, Map<number, Series>>>();

  constructor(registry: Registry) {
    const get = async () => ({ name: NAME, help: HELP, type: 'histogram', aggregator: 'sum', values: this.#values() });
    // The registry needs no more of a metric.
    registry.registerMetric({ name: NAME, get } as unknown as Histogram);
  }

  observe(route: string, method: string, status: number, seconds: number): void {
    const series = this.#series.get(route)?.get(method)?.get(status) ?? this.#add(route, method, status);
    const found = BOUNDS.findIndex((upper) => seconds <= upper);
    const index = found === -1 ? BOUNDS.length : found;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += seconds;
  }

  #add(route: string, method: string, status: number): Series {
    const labels = { route, method, status: String(status) };
    const series = { labels, counts: [...BOUNDS, Number.POSITIVE_INFINITY].map(() => 0), sum: 0 };
    const ofRoute = this.#series.get(route) ?? new Map<string, Map<number, Series>>();
    const ofMethod = ofRoute.get(method) ?? new Map<number, Series>();
    this.#series.set(route, ofRoute.set(method, ofMethod.set(status, series)));
    return series;
  }

  #values(): Value[] {
    const all = [...this.#series.values()].flatMap((ofRoute) =>
      [...ofRoute.values()].flatMap((ofMethod) => [...ofMethod.values()]),
    );
    return all.flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = [...BOUNDS, '+Inf'].map((le, index) => {
        count += counts[index] ?? 0;
        return { metricName: `${NAME}_bucket`, labels: { le, ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${NAME}_sum`, labels, value: sum },
        { metricName: `${NAME}_count`, labels, value: count },
      ];
    });
  }
}
