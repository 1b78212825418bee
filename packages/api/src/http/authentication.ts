/**
 * Whether a request may be answered, before anything else of it is looked at: its key (api-spec.md §5), the key's quota and its rate
 * limit. What is refused costs nothing; all else is counted at once, whatever the answer will be.
 */
import type { KeyInForce } from '@kasgres/database';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../services.ts';
import { HttpError } from './errors.ts';
import { secondsUntilAllowed } from './quota.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose request it is; null until the key is found to be good. */
    apiKey: KeyInForce | null;
    /** Request units that it was counted with. */
    spentRu: number;
    /** Why it was refused; null unless it was. */
    refusal: Refusal | null;
  }
  interface FastifyContextConfig {
    /** Request units. */
    cost?: number;
  }
}

export type Refusal = 'missing_key' | 'invalid_key' | 'quota' | 'rate_limit';

/** Asks for a key on every route of this instance, and meters each request that is admitted. */
export function requireKey(app: FastifyInstance, { keys, rates, usage }: Services): void {
  app.decorateRequest('apiKey', null);
  app.decorateRequest('spentRu', 0);
  app.decorateRequest('refusal', null);

  app.addHook('onRequest', async (request, reply) => {
    // Data behind a key is for nobody else's cache, and what one has of it is to be asked for again: that is what the etag is for.
    reply.header('cache-control', 'private, no-cache');
    const cost = costOf(request);
    const apiKey = await authenticate(request);
    request.apiKey = apiKey;

    const quotaSeconds = secondsUntilAllowed(apiKey, cost, usage);
    if (quotaSeconds !== undefined) {
      setRateHeaders(reply, apiKey, 0, quotaSeconds);
      throw limitExceeded(request, 'quota', quotaSeconds);
    }
    const { allowed, remainingRu, resetSeconds } = await rates.spend(apiKey, cost);
    setRateHeaders(reply, apiKey, remainingRu, resetSeconds);
    if (!allowed) throw limitExceeded(request, 'rate_limit', resetSeconds);

    usage.add(apiKey.id, cost);
    request.spentRu = cost;
    reply.header('x-request-cost-ru', String(cost));
  });

  async function authenticate(request: FastifyRequest): Promise<KeyInForce> {
    const key = request.headers['x-api-key'];
    if (key === undefined) {
      request.refusal = 'missing_key';
      throw new HttpError(401, 'x-api-key is missing from header');
    }
    const apiKey = await keys.find(String(key));
    if (apiKey === undefined) {
      request.refusal = 'invalid_key';
      throw new HttpError(401, 'Invalid API key');
    }
    return apiKey;
  }
}

function setRateHeaders(
  reply: FastifyReply,
  { rateRu, windowSeconds }: KeyInForce,
  remainingRu: number,
  resetSeconds: number,
): void {
  reply.header('ratelimit-limit', `${rateRu};w=${windowSeconds}`);
  reply.header('ratelimit-remaining', String(remainingRu));
  reply.header('ratelimit-reset', String(resetSeconds));
}

function limitExceeded(request: FastifyRequest, refusal: Refusal, retryAfterSeconds: number): HttpError {
  request.refusal = refusal;
  return new HttpError(429, 'Rate limit exceeded', { retryAfterSeconds });
}

function costOf(request: FastifyRequest): number {
  const { cost } = request.routeOptions.config;
  if (cost === undefined) throw new Error(`No cost is declared for ${request.routeOptions.url}`);
  return cost;
}
