import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { cliEnvSchema } from '../env.ts';
import { checkPorts, metricsPorts } from './ports.ts';

test('it names the variable of a port that is in use', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = cliEnvSchema.parse({ PORT: String(port) });
  await expect(checkPorts(env)).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use by another program. Set PORT to a free one`,
  );
  server.close();
});

test('it explains that an address is not one of this machine', async () => {
  const env = cliEnvSchema.parse({ HOST: '192.0.2.1' });
  await expect(checkPorts(env)).rejects.toThrow('192.0.2.1 is not an address of this machine');
});

test.each(['29470', '29471'])('it refuses METRICS_PORT if PORT=%s is one of its two ports', async (PORT) => {
  const env = cliEnvSchema.parse({ PORT, METRICS_PORT: '29470' });
  await expect(checkPorts(env)).rejects.toThrow(`takes the ports 29470 and 29471, and PORT=${PORT} is one of them`);
});

test('METRICS_PORT is the metrics port of the API, and the next port that of the indexer', () => {
  expect(metricsPorts(9100)).toEqual({ api: 9100, indexer: 9101 });
});

test('both programs choose a metrics port by themselves if METRICS_PORT is not set', () => {
  expect(metricsPorts(cliEnvSchema.parse({}).METRICS_PORT)).toEqual({ api: 0, indexer: 0 });
});
