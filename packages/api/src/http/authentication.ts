/** The key of a request, before anything else is looked at (api-spec.md §5), and what the request costs it. */
import type { ApiKey } from '@kasgres/database';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../services.ts';
import { HttpError } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose request it is; null until the key is found to be good. */
    apiKey: ApiKey | null;
  }
  interface FastifyContextConfig {
    /** Request units. */
    cost?: number;
  }
}

/** Asks for a key on every route of this instance, and meters each request that had a good one. */
export function requireKey(app: FastifyInstance, { keys, usage }: Services): void {
  app.decorateRequest('apiKey', null);

  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const key = request.headers['x-api-key'];
    if (key === undefined) throw new HttpError(401, 'x-api-key is missing from header');
    request.apiKey = (await keys.find(String(key))) ?? null;
    if (request.apiKey === null) throw new HttpError(401, 'Invalid API key');
    reply.header('x-request-cost-ru', String(costOf(request)));
  });

  app.addHook('onResponse', async (request: FastifyRequest) => {
    if (request.apiKey !== null) usage.add(request.apiKey.id, costOf(request));
  });
}

function costOf(request: FastifyRequest): number {
  const { cost } = request.routeOptions.config;
  if (cost === undefined) throw new Error(`No cost is declared for ${request.routeOptions.url}`);
  return cost;
}
