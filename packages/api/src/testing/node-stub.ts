/** A server with a fake node and without a database, for tests of operations on the node. */
import { getNetwork } from '@kasgres/kaspa';
import { createLogger, createRegistry } from '@kasgres/runtime';
import type { FastifyInstance } from 'fastify';
import type { Admission } from '../limits/admission.ts';
import { createMetrics } from '../metrics.ts';
import { createServer } from '../server.ts';
import { createServices, type Services } from '../services.ts';

type Respond = (op: string, request: object) => object;

export async function serverOnNode(respond: Respond): Promise<FastifyInstance> {
  const logger = createLogger({ name: 'api under test', level: 'silent' });
  const none = undefined as never;
  const bucket = { name: 'key:1', rateRu: 1000, windowSeconds: 1 };
  const verdict = { remainingRu: 1000, resetSeconds: 1, charge: { ru: 1, window: 1, day: '2026-01-01' } };
  const admission: Admission = {
    admit: async () => ({ apiKey: { id: 1n, readOnly: false, bucket }, verdict }),
    admitAtOnce: () => undefined,
    admitAnonymous: async () => undefined,
    chargeMore: async () => verdict,
    release: () => undefined,
    isInForce: async () => true,
    close: async () => undefined,
  };
  const services = createServices({
    admission,
    readDatabase: none,
    readConnections: 1,
    statusDatabase: none,
    databaseUrl: '',
    logger,
    node: { connected: true, call: async (op: string, request: object) => respond(op, request) } as Services['node'],
  });
  services.index.getNetwork = async () => getNetwork('simnet');
  return createServer({ services, logger, metrics: createMetrics(createRegistry('api under test')) });
}

export async function post(server: FastifyInstance, url: string, payload: object) {
  const response = await server.inject({ method: 'POST', url, payload, headers: { 'x-api-key': 'any' } });
  return { status: response.statusCode, text: response.body, json: response.json<Record<string, unknown>>() };
}
