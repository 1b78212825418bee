/** A server with a fake node and without a database, for tests of operations on the node. */
import { getNetwork } from '@kasgres/kaspa';
import { createLogger, createRegistry } from '@kasgres/runtime';
import type { FastifyInstance } from 'fastify';
import type { IndexReader } from '../index-state/state.ts';
import { EventLoopTurns } from '../fairness/event-loop-turns.ts';
import type { CachedKey } from '../http/key-cache.ts';
import { LocalLimits } from '../limits/local-limits.ts';
import { MemoryWindows } from '../limits/windows.ts';
import { Pacer } from '../limits/pacer.ts';
import { UsageMeter } from '../limits/usage-meter.ts';
import { createMetrics } from '../metrics.ts';
import { NodeCalls } from '../node-calls.ts';
import { NodeStatus } from '../node-status.ts';
import { createServer } from '../server.ts';
import { SharedRead } from '../shared-read.ts';
import type { Services } from '../services.ts';

type Respond = (op: string, request: object) => object;

export async function serverOnNode(respond: Respond): Promise<FastifyInstance> {
  const node = { connected: true, call: async (op: string, request: object) => respond(op, request) };
  const bucket = { name: 'key:1', apiKeyId: 1n, rateRu: 1000, windowSeconds: 1, concurrency: 10, quota: undefined };
  const index = { getNetwork: async () => getNetwork('simnet') } as unknown as IndexReader;
  const usage = new UsageMeter(
    async () => undefined,
    () => undefined,
  );
  const services = {
    index,
    statusIndex: index,
    status: new SharedRead<never>({ lifeMs: 0, burst: 0 }),
    readQueue: { waiting: 0 },
    turns: new EventLoopTurns(),
    keys: { find: () => ({ id: 1n, rateRu: 1000, windowSeconds: 1, bucket }) as CachedKey, close: () => undefined },
    node: node as unknown as Services['node'],
    nodeCalls: new NodeCalls(node as unknown as Services['node']),
    nodeStatus: new NodeStatus(node as unknown as Services['node']),
    limits: new LocalLimits({ windows: new MemoryWindows(), usage }),
    anonymousPacer: new Pacer({ perSecond: 1000, burst: 1000 }),
  };
  const logger = createLogger({ name: 'api under test', level: 'silent' });
  return createServer({ services, logger, metrics: createMetrics(createRegistry('api under test')) });
}

export async function post(server: FastifyInstance, url: string, payload: object) {
  const response = await server.inject({ method: 'POST', url, payload, headers: { 'x-api-key': 'any' } });
  return { status: response.statusCode, text: response.body, json: response.json<Record<string, unknown>>() };
}
