import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createLogger } from './logger.ts';
import { Counter, createRegistry, Gauge, type Probes, type Readiness, startProbes } from './probes.ts';
import { FatalError } from './run-program.ts';

let probes: Probes | undefined;
afterEach(async () => await probes?.close());

async function ask(path: string): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://127.0.0.1:${probes?.port}${path}`);
  return { status: response.status, body: await response.text() };
}

test('probes respond, and readiness follows the state of the program', async () => {
  const registry = createRegistry('example');
  const errors = new Counter({ name: 'kasgres_example_errors_total', help: 'errors', registers: [registry] });
  errors.inc();
  let readiness: Readiness = { ready: false, reason: 'no connection to the database' };
  const controller = new AbortController();
  probes = await startProbes({ port: 0, registry, ready: () => readiness, signal: controller.signal });

  expect(await ask('/healthz')).toEqual({ status: 200, body: 'ok\n' });
  expect(await ask('/readyz')).toEqual({ status: 503, body: 'no connection to the database\n' });
  readiness = { ready: true };
  expect(await ask('/readyz')).toEqual({ status: 200, body: 'ready\n' });
  controller.abort();
  expect(await ask('/readyz')).toEqual({ status: 503, body: 'shutting down\n' });

  const metrics = await ask('/metrics');
  expect(metrics.body).toContain('kasgres_example_errors_total{program="example"} 1');
  expect(metrics.body).toContain('process_cpu_seconds_total');
  expect(await ask('/else')).toMatchObject({ status: 404 });
});

test('it responds 503 with the message of a readiness check that throws', async () => {
  probes = await startProbes({ port: 0, registry: createRegistry('example'), ready: failToResponse });
  expect(await ask('/readyz')).toEqual({ status: 503, body: 'pool is closed\n' });
});

test.each(['//', '//metrics', '/%', '/%zz?%', 'http://[', '*'])('it responds 404 to the target %j', async (target) => {
  probes = await startProbes({ port: 0, registry: createRegistry('example'), ready: () => ({ ready: true }) });
  const sent = request({ port: probes.port, path: target }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(404);
  expect(await ask('/healthz?x=//')).toEqual({ status: 200, body: 'ok\n' });
});

test('it responds 500 if the metrics cannot be collected', async () => {
  const registry = createRegistry('example');
  registry.registerMetric(
    new Gauge({ name: 'kasgres_example_broken', help: 'broken', registers: [], collect: failToResponse }),
  );
  probes = await startProbes({ port: 0, registry, ready: () => ({ ready: true }) });
  expect(await ask('/metrics')).toEqual({ status: 500, body: 'pool is closed\n' });
  expect(await ask('/healthz')).toEqual({ status: 200, body: 'ok\n' });
});

test('it logs the address of the metrics, whose port may be chosen by the system', async () => {
  let logged = '';
  const destination = { write: (line: string) => (logged += line) };
  const logger = createLogger({ name: 'example', destination });
  const registry = createRegistry('example');
  probes = await startProbes({ port: 0, registry, logger, ready: () => ({ ready: true }) });
  expect(JSON.parse(logged)).toMatchObject({
    msg: 'serving metrics',
    url: `http://127.0.0.1:${probes.port}/metrics`,
  });
});

test.each(['192.0.2.1', '*'])('it rejects %s, which is not an address of this machine', async (host) => {
  const options = { host, port: 0, registry: createRegistry('example'), ready: () => ({ ready: true }) as const };
  await expect(startProbes(options)).rejects.toThrow(
    new FatalError(`${host} is not an address of this machine. Set METRICS_HOST to one, such as 127.0.0.1 or 0.0.0.0.`),
  );
});

test('it rejects a port that is taken with an error that names the variable', async () => {
  const options = { registry: createRegistry('example'), ready: (): Readiness => ({ ready: true }) };
  probes = await startProbes({ port: 0, ...options });
  await expect(startProbes({ port: probes.port, ...options })).rejects.toThrow(
    new FatalError(`Port ${probes.port} on 127.0.0.1 is in use by another program. Set METRICS_PORT to a free one.`),
  );
});

function failToResponse(): never {
  throw new Error('pool is closed');
}
