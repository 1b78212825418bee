/** A server with a fake node and without a database, for tests of operations on the node. */
import { getNetwork } from '@kasgres/kaspa';
import { createLogger, createRegistry } from '@kasgres/runtime';
import type { FastifyInstance } from 'fastify';
import { MemoryWindows } from '../limits/windows.ts';
import { createMetrics } from '../metrics.ts';
import { createServer } from '../server.ts';
import { createServices, type Services } from '../services.ts';

type Respond = (op: string, request: object) => object;

export async function serverOnNode(respond: Respond): Promise<FastifyInstance> {
  const logger = createLogger({ name: 'api under test', level: 'silent' });
  const none = undefined as never;
  const services = createServices({
    database: none,
    unknownKeysDatabase: none,
    readDatabase: none,
    readConnections: 1,
    statusDatabase: none,
    node: { connected: true, call: async (op: string, request: object) => respond(op, request) } as Services['node'],
    windows: new MemoryWindows(),
    logger,
  });
  const bucket = { name: 'key:1', apiKeyId: 1n, rateRu: 1000, windowSeconds: 1, concurrency: 10, quota: undefined };
  services.keys.find = () => ({ id: 1n, rateRu: 1000, windowSeconds: 1, bucket }) as never;
  services.index.getNetwork = async () => getNetwork('simnet');
  return createServer({ services, logger, metrics: createMetrics(createRegistry('api under test')) });
}

export async function post(server: FastifyInstance, url: string, payload: object) {
  const response = await server.inject({ method: 'POST', url, payload, headers: { 'x-api-key': 'any' } });
  return { status: response.statusCode, text: response.body, json: response.json<Record<string, unknown>>() };
}
