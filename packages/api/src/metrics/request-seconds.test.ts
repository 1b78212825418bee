import { Histogram, Registry } from '@kasgres/runtime';
import { expect, it } from 'vitest';
import { RequestSeconds } from './request-seconds.ts';

const OBSERVED: [route: string, method: string, status: number, seconds: number][] = [
  ['/v1/blocks', 'GET', 200, 0.0001],
  ['/v1/blocks', 'GET', 200, 0.001],
  ['/v1/blocks', 'GET', 200, 0.3],
  ['/v1/blocks', 'GET', 304, 0.0011],
  ['/v1/blocks', 'HEAD', 200, 15],
  ['unknown', 'GET', 404, 15.1],
];

function registryWith(add: (registry: Registry) => void): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ program: 'api' });
  add(registry);
  return registry;
}

/** The order of labels has no meaning. */
const linesOf = (text: string): string[] =>
  text.split('\n').map((line) =>
    line.replace(
      /\{(.*)\}/,
      (_, labels: string) =>
        labels
          .match(/\w+="[^"]*"/g)
          ?.toSorted()
          .join(',') ?? '',
    ),
  );

it('shows the same as the histogram of the library', async () => {
  const own = registryWith((registry) => {
    const seconds = new RequestSeconds(registry);
    for (const observed of OBSERVED) seconds.observe(...observed);
  });
  const library = registryWith((registry) => {
    const histogram = new Histogram({
      name: 'kasgres_api_request_seconds',
      help: 'Time from the headers of a request to the end of its response, by route template; unknown paths are one route.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      registers: [registry],
    });
    for (const [route, method, status, seconds] of OBSERVED) histogram.observe({ route, method, status }, seconds);
  });
  expect(linesOf(await own.metrics())).toEqual(linesOf(await library.metrics()));
});
