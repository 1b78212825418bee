/** A server whose node answers what a test says, and whose database is not asked: for what comes live from the node. */
import { getNetwork } from '@kasgres/kaspa';
import { createLogger, createRegistry } from '@kasgres/runtime';
import type { FastifyInstance } from 'fastify';
import type { IndexReader } from '../index-state/state.ts';
import type { KeyCache } from '../http/key-cache.ts';
import { createMemoryCounter } from '../http/rate-counters.ts';
import { RateLimits } from '../http/rate-limits.ts';
import { UsageMeter } from '../http/usage-meter.ts';
import { createMetrics } from '../metrics.ts';
import { NodeStatus } from '../node-status.ts';
import { createServer } from '../server.ts';
import type { Services } from '../services.ts';

type Answer = (op: string, request: object) => object;

export async function serverOnNode(answer: Answer): Promise<FastifyInstance> {
  const node = { connected: true, call: async (op: string, request: object) => answer(op, request) };
  const services = {
    index: { getNetwork: async () => getNetwork('simnet') } as unknown as IndexReader,
    keys: { find: async () => ({ id: 1n, rateRu: 1000, windowSeconds: 1 }) } as unknown as KeyCache,
    node: node as unknown as Services['node'],
    nodeStatus: new NodeStatus(node as unknown as Services['node']),
    rates: new RateLimits(createMemoryCounter()),
    usage: new UsageMeter(
      async () => undefined,
      () => undefined,
    ),
  };
  const logger = createLogger({ name: 'api under test', level: 'silent' });
  return createServer({ services, logger, metrics: createMetrics(createRegistry('api under test')) });
}

export async function post(server: FastifyInstance, url: string, payload: object) {
  const answer = await server.inject({ method: 'POST', url, payload, headers: { 'x-api-key': 'any' } });
  return { status: answer.statusCode, text: answer.body, json: answer.json<Record<string, unknown>>() };
}
