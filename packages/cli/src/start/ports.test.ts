import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { cliEnvSchema } from '../env.ts';
import { choosePorts, findFreePorts } from './ports.ts';

test('it names the variable of a port that is in use', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = cliEnvSchema.parse({ PORT: String(port) });
  await expect(choosePorts(env)).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use by another program. Set PORT to a free one`,
  );
  server.close();
});

test('it explains that an address is not one of this machine', async () => {
  const env = cliEnvSchema.parse({ HOST: '192.0.2.1' });
  await expect(choosePorts(env)).rejects.toThrow('192.0.2.1 is not an address of this machine');
});

test('METRICS_PORT is the metrics port of the API, and the next port that of the indexer', async () => {
  const [port = 0] = await findFreePorts(1, []);
  // Below the ports that systems give out by themselves.
  const metrics = 20_000 + Math.floor(Math.random() * 10_000);
  const env = cliEnvSchema.parse({ PORT: String(port), METRICS_PORT: String(metrics) });
  expect(await choosePorts(env)).toMatchObject({ apiMetrics: metrics, indexerMetrics: metrics + 1 });
});

test('chosen free ports are all different', async () => {
  const ports = await findFreePorts(50, []);
  expect(new Set(ports).size).toBe(50);
});
