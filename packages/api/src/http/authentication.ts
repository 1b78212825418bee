/**
 * Checks the API key (api-spec.md §5) and its limits before anything else of a request is read. A refused request costs nothing; an admitted one
 * is charged at once, even if its response will be an error.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestKey } from '../limits/admission.ts';
import { type Charge, fromHundredths, type RefusalReason, toHundredths, type Verdict } from '../limits/limits.ts';
import type { Services } from '../services.ts';
import { HttpError } from './errors.ts';
import { parseToken } from './stream-tokens.ts';
import { callerOf, clientOf } from './request-identity.ts';

declare module 'fastify' {
  interface FastifyRequest {
    apiKey: RequestKey | null;
    /** The first charge while the request is in flight; null before and after. */
    charge: Charge | null;
    spentRu: number;
    refusal: Refusal | null;
    /** Whether computation has finished and the response is being sent. */
    hasResponse: boolean;
  }
}

export type Refusal = 'missing_key' | 'invalid_key' | 'read_only' | RefusalReason;

const ITEMS_PER_COST = 20;

/** Bodies of unknown size count as large. */
const LARGE_BODY_BYTES = 4096;

/** Requires a key on every route of this instance, and meters each request that is admitted. */
export function requireKey(
  app: FastifyInstance,
  { admission, isAnonymousAllowed, anonymousPacer, refusalPacers, turns }: Services,
): void {
  app.decorateRequest('apiKey', null);
  app.decorateRequest('charge', null);
  app.decorateRequest('spentRu', 0);
  app.decorateRequest('refusal', null);
  app.decorateRequest('hasResponse', false);

  app.addHook('onRequest', async (request, reply) => {
    // Only the client's own cache may keep the response, and must revalidate it with the etag.
    reply.header('cache-control', 'private, no-cache');
    const cost = costOf(request);
    const credential = credentialOf(request);
    const admitted = await (credential === undefined
      ? admitAnonymous(request, cost)
      : admission.admit(credential, cost));
    if (admitted === undefined) throw await refuseKey(request, reply, credential === undefined);
    const { apiKey } = admitted;
    request.apiKey = apiKey;
    if (admitted.verdict === undefined) throw admitted.error;

    request.charge = await requireAdmitted(request, reply, admitted.verdict, cost);
    reply.raw.once('close', () => {
      if (request.hasResponse) release(request);
    });
    // The response was not ready in time, and has been sent without a charge.
    if (reply.raw.writableEnded) release(request);

    if (apiKey.readOnly && request.routeOptions.config.operation?.submits === true) {
      request.refusal = 'read_only';
      throw new HttpError(403, 'The API key is read-only: it may not submit to the network');
    }
  });

  // Bodies that take milliseconds to parse and validate take turns.
  app.addHook('preParsing', async (request) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (encoding !== undefined || Number(length ?? 0) >= LARGE_BODY_BYTES) await turns.next(callerOf(request));
  });

  // The items of a request are counted and charged once the body is known to be valid.
  app.addHook('preHandler', async (request, reply) => {
    const { apiKey, charge: first } = request;
    const path = request.routeOptions.config.operation?.costsByItemsOf;
    if (path === undefined || apiKey === null || first === null) return;
    const groups = Math.ceil(countItems(request.body, path) / ITEMS_PER_COST);
    if (groups <= 1) return;
    const hundredths = toHundredths(costOf(request));
    const verdict = await admission.chargeMore(apiKey, first, fromHundredths(hundredths * (groups - 1)));
    await requireAdmitted(request, reply, verdict, fromHundredths(hundredths * groups));
  });

  // A request is in flight until both its computation, which continues if the client disconnects, and its response have finished.
  app.addHook('onSend', (request, reply, payload, done) => {
    request.hasResponse = true;
    if (reply.raw.destroyed) release(request);
    done(null, payload);
  });

  function admitAnonymous(request: FastifyRequest, cost: number) {
    const { operation } = request.routeOptions.config;
    if (!isAnonymousAllowed || operation?.submits === true || operation?.requiresKey === true) return undefined;
    return admission.admitAnonymous(clientOf(request.ip), cost);
  }

  function release(request: FastifyRequest): void {
    if (request.charge === null || request.apiKey === null) return;
    request.charge = null;
    admission.release(request.apiKey);
  }

  async function refuseKey(request: FastifyRequest, reply: FastifyReply, isMissing: boolean): Promise<HttpError> {
    request.refusal = isMissing ? 'missing_key' : 'invalid_key';
    await anonymousPacer.wait(reply.raw);
    return new HttpError(401, isMissing ? 'x-api-key is missing from header' : 'Invalid API key');
  }

  /** @param ru the cost of the request if it is admitted. @throws HttpError 429 */
  async function requireAdmitted(
    request: FastifyRequest,
    reply: FastifyReply,
    verdict: Verdict,
    ru: number,
  ): Promise<Charge> {
    const { name, rateRu, windowSeconds } = (request.apiKey as RequestKey).bucket;
    request.spentRu = verdict.refusal === undefined ? ru : 0;
    reply
      .header('x-request-cost-ru', String(request.spentRu))
      .header('ratelimit-limit', `${rateRu};w=${windowSeconds}`)
      .header('ratelimit-remaining', String(verdict.remainingRu))
      .header('ratelimit-reset', String(verdict.resetSeconds));
    if (verdict.refusal === undefined) return verdict.charge;
    request.refusal = verdict.refusal;
    await refusalPacers.wait(name, reply.raw);
    throw new HttpError(429, 'Rate limit exceeded', { retryAfterSeconds: verdict.resetSeconds });
  }
}

/** A token of a stream may be in the URL, and only there. */
export function credentialOf({ headers, query, routeOptions }: FastifyRequest): string | undefined {
  const { 'x-api-key': key } = headers;
  if (key !== undefined) return parseToken(String(key)) === undefined ? String(key) : 'a token is no key';
  const { token } = query as { token?: unknown };
  return routeOptions.config.operation?.acceptsToken === true && typeof token === 'string' ? token : undefined;
}

function costOf(request: FastifyRequest): number {
  const cost = request.routeOptions.config.operation?.cost;
  if (cost === undefined) throw new Error(`No cost is declared for ${request.routeOptions.url}`);
  return cost;
}

function countItems(body: unknown, path: readonly string[]): number {
  let value = body;
  for (const name of path) value = (value as Record<string, unknown>)[name];
  return (value as unknown[]).length;
}
