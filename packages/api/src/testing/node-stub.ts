/**
 * Servers without a database: with a fake node, for tests of operations on it, or with other parts
 * replaced.
 */
import { getNetwork } from '@kasgres/kaspa';
import { encodeEntry, type UseListing } from '@kasgres/node';
import { createLogger, createRegistry, type Logger, type Registry } from '@kasgres/runtime';
import type { FastifyInstance } from 'fastify';
import type { Admission } from '../limits/admission.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createServer } from '../server.ts';
import { createServices, type Services } from '../services.ts';

const none = undefined as never;

type Respond = (op: string, request: object) => object;

interface StubOptions {
  /** Replaces parts of an admission that admits every key, but none at once. */
  admission?: Partial<Admission>;
  node?: Services['node'];
  logger?: Logger;
  registry?: Registry;
  corsOrigins?: readonly string[];
}

export async function serverWithoutDatabase({
  admission,
  node = none,
  logger = createLogger({ name: 'api under test', level: 'silent' }),
  registry = createRegistry('api under test'),
  corsOrigins,
}: StubOptions): Promise<{ server: FastifyInstance; services: Services }> {
  const limits = { rateRu: 1000, windowSeconds: 1, concurrency: 128, quota: undefined };
  const bucket = { name: 'key:1', apiKeyId: 1n, ...limits };
  const verdict = { remainingRu: 1000, resetSeconds: 1, charge: { ru: 1, window: 1, day: '2026-01-01' } };
  const admitsAll: Pick<Admission, keyof Admission> = {
    admit: async () => ({ apiKey: { id: 1n, readOnly: false, bucket }, verdict }),
    admitAnonymous: async () => undefined,
    chargeMore: async () => verdict,
    release: () => undefined,
    isInForce: async () => true,
    close: async () => undefined,
    ...admission,
  };
  const services = createServices({
    admission: admitsAll as Admission,
    readDatabase: none,
    readConnections: 1,
    statusDatabase: none,
    databaseUrl: '',
    logger,
    node,
  });
  const server = await createServer({ services, logger, metrics: createMetrics(registry), corsOrigins });
  return { server, services };
}

interface Listed {
  entries: readonly (Entry & { address?: string; sending?: readonly Entry[]; receiving?: readonly Entry[] })[];
}

type Entry = Parameters<typeof encodeEntry>[0];

/** Returns a node from its responses. Entries of a listing come one by one. */
export function nodeOf(respond: (op: string, request: object) => object | Promise<object>): Services['node'] {
  const call = async (op: string, request: object): Promise<object> => respond(op, request);
  const list = async <T>(op: string, request: object, use: UseListing<T>): Promise<T> => {
    const { entries } = (await call(op, request)) as Listed;
    async function* pieces() {
      for (const entry of entries) {
        const { address, sending = [], receiving = [] } = entry;
        const listed = address === undefined ? [entry] : [...sending, ...receiving];
        for (const each of listed) yield [{ address, bytes: encodeEntry(each) }];
      }
    }
    return use(pieces());
  };
  return { connected: true, call, list } as unknown as Services['node'];
}

export async function serverOnNode(respond: Respond): Promise<FastifyInstance> {
  const node = nodeOf(respond);
  const { server, services } = await serverWithoutDatabase({ node });
  services.index.getNetwork = async () => getNetwork('simnet');
  return server;
}

export async function post(server: FastifyInstance, url: string, payload: object) {
  const response = await server.inject({ method: 'POST', url, payload, headers: { 'x-api-key': 'any' } });
  return { status: response.statusCode, text: response.body, json: response.json<Record<string, unknown>>() };
}
