/**
 * Whether a request may run, before anything else of it is looked at: its key (api-spec.md §5), and that key's limits. What is refused
 * costs nothing; all else is charged at once, whatever the response will be.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Charge, RefusalReason, Refused, Standing } from '../limits/limits.ts';
import { Pacers } from '../limits/pacer.ts';
import { fromHundredths, toHundredths } from '../limits/request-units.ts';
import type { Services } from '../services.ts';
import { callerOf } from './caller.ts';
import { HttpError } from './errors.ts';
import type { CachedKey } from './key-cache.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose request it is; null until the key is found to be good. */
    apiKey: CachedKey | null;
    /** What it was charged so far, while it is in flight; null before and after. */
    charge: Charge | null;
    /** Request units that it was charged. */
    spentRu: number;
    /** Why it was refused; null unless it was. */
    refusal: Refusal | null;
    /** The response is on its way, and nothing is computed for it any longer. */
    isAnswered: boolean;
  }
  interface FastifyContextConfig {
    /** Request units. */
    cost?: number;
    /** Path to an array in the body whose items cost: the route's cost for every ITEMS_A_COST of them begun. */
    costsByItemsOf?: readonly string[];
    /** Whether it submits something to the network, which a read-only key may not. */
    submits?: boolean;
  }
}

export type Refusal = 'missing_key' | 'invalid_key' | 'read_only' | RefusalReason;

/** Of requests for many items, so many cost as much as a request for one. */
export const ITEMS_A_COST = 20;

/** Bodies whose size is not told count as large. */
const LARGE_BODY_BYTES = 4096;

/** A key that is refused goes on asking, mostly: its refusals are not to take the time of others' responses. */
const REFUSALS = { perSecond: 500, burst: 100 };

/** Requires a key on every route of this instance, and meters each request that is admitted. */
export function requireKey(app: FastifyInstance, { keys, limits, anonymousPacer, turns }: Services): void {
  const refusals = new Pacers(REFUSALS);
  app.decorateRequest('apiKey', null);
  app.decorateRequest('charge', null);
  app.decorateRequest('spentRu', 0);
  app.decorateRequest('refusal', null);
  app.decorateRequest('isAnswered', false);

  app.addHook('onRequest', async (request, reply) => {
    // Data behind a key is for nobody else's cache, and a copy of it has to be revalidated, which is what the etag is for.
    reply.header('cache-control', 'private, no-cache');
    const cost = costOf(request);
    const apiKey = await authenticate(request, reply);
    request.apiKey = apiKey;

    const verdict = await limits.admit(apiKey.bucket, cost);
    setRateHeaders(reply, apiKey, verdict);
    if (verdict.refusal !== undefined) throw await refuse(request, reply, verdict);
    request.charge = verdict.charge;
    setCost(request, reply, cost);
    reply.raw.once('close', () => {
      if (request.isAnswered) release(request);
    });

    if (apiKey.readOnly && request.routeOptions.config.submits === true) {
      request.refusal = 'read_only';
      throw new HttpError(403, 'The key is read-only');
    }
  });

  // A large body is parsed and checked in one go, which takes milliseconds: these take turns.
  app.addHook('preParsing', async (request) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (encoding !== undefined || Number(length ?? 0) >= LARGE_BODY_BYTES) await turns.next(callerOf(request));
  });

  // Requests for many are charged in full once it is known that they are valid.
  app.addHook('onRoute', (route) => {
    const path = route.config?.costsByItemsOf;
    if (path === undefined) return;
    const charge = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const { apiKey, charge: earlier } = request;
      const cost = costOf(request);
      const groups = Math.ceil(countItems(request.body, path) / ITEMS_A_COST);
      if (apiKey === null || earlier === null || groups <= 1) return;
      const moreRu = fromHundredths(toHundredths(cost) * (groups - 1));
      const verdict = await limits.chargeMore(apiKey.bucket, earlier, moreRu);
      setRateHeaders(reply, apiKey, verdict);
      if (verdict.refusal !== undefined) {
        setCost(request, reply, 0);
        throw await refuse(request, reply, verdict);
      }
      setCost(request, reply, fromHundredths(toHundredths(cost) * groups));
    };
    route.preHandler = [charge, ...[route.preHandler ?? []].flat()];
  });

  // A request is in flight until both are over: what it computes, which goes on when its client leaves, and its response.
  app.addHook('onSend', (request, reply, payload, done) => {
    request.isAnswered = true;
    if (reply.raw.destroyed) release(request);
    done(null, payload);
  });

  function release(request: FastifyRequest): void {
    if (request.charge === null || request.apiKey === null) return;
    request.charge = null;
    limits.release(request.apiKey.bucket);
  }

  async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<CachedKey> {
    const key = request.headers['x-api-key'];
    const apiKey = key === undefined ? undefined : await keys.find(String(key));
    if (apiKey !== undefined) return apiKey;
    request.refusal = key === undefined ? 'missing_key' : 'invalid_key';
    await anonymousPacer.wait(reply.raw);
    throw new HttpError(401, key === undefined ? 'x-api-key is missing from header' : 'Invalid API key');
  }

  async function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    { refusal, resetSeconds }: Refused,
  ): Promise<HttpError> {
    request.refusal = refusal;
    await refusals.wait(request.apiKey?.bucket.name ?? '', reply.raw);
    return new HttpError(429, 'Rate limit exceeded', { retryAfterSeconds: resetSeconds });
  }
}

function setRateHeaders(reply: FastifyReply, { rateRu, windowSeconds }: CachedKey, standing: Standing): void {
  reply.header('ratelimit-limit', `${rateRu};w=${windowSeconds}`);
  reply.header('ratelimit-remaining', String(standing.remainingRu));
  reply.header('ratelimit-reset', String(standing.resetSeconds));
}

function setCost(request: FastifyRequest, reply: FastifyReply, ru: number): void {
  request.spentRu = ru;
  reply.header('x-request-cost-ru', String(ru));
}

function costOf(request: FastifyRequest): number {
  const { cost } = request.routeOptions.config;
  if (cost === undefined) throw new Error(`No cost is declared for ${request.routeOptions.url}`);
  return cost;
}

/** The body is valid by now. */
function countItems(body: unknown, path: readonly string[]): number {
  let value = body;
  for (const name of path) value = (value as Record<string, unknown>)[name];
  return (value as unknown[]).length;
}
