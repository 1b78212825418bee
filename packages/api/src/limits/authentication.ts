/**
 * Checks the API key and its limits before anything else of a request is read. A refused request
 * costs nothing; an admitted one is charged at once, even if its response will be an error.
 */
import { type Awaitable, HttpError, whenKnown } from '@kasgres/reads';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requireUncompressedBody } from '../http/compression.ts';
import { callerOf, clientOf } from '../http/request-identity.ts';
import type { AnyOperation } from '../openapi/route.ts';
import type { Services } from '../services.ts';
import type { Admission, Admitted, RequestKey } from './admission.ts';
import { credentialOf, isMisplaced } from './credential.ts';
import { fromHundredths, toHundredths } from './hundredths.ts';
import type { Charge, RefusalReason, Refused, Standing } from './limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    apiKey: RequestKey | null;
    /** The first charge while the request is in flight; null before and after. */
    charge: Charge | null;
    spentRu: number;
    refusal: Refusal | null;
  }
}

export type Refusal = 'missing_key' | 'invalid_key' | 'read_only' | RefusalReason;

const ITEMS_PER_COST = 20;

/** Only the client's own cache may keep a response, and must revalidate it with the etag. */
export const CACHE_CONTROL = 'private, no-cache';

/** Bodies of unknown size count as large. */
const LARGE_BODY_BYTES = 4096;

/**
 * Charges what a request in flight costs beyond its first charge.
 * @throws HttpError 429, after which the request has cost nothing
 */
export async function chargeBeyond(
  { admission, refusalPacers }: Pick<Services, 'admission' | 'refusalPacers'>,
  request: FastifyRequest,
  reply: FastifyReply,
  ru: number,
): Promise<void> {
  const { apiKey, charge: first } = request;
  if (ru <= 0 || apiKey === null || first === null) return;
  const verdict = await admission.chargeMore(apiKey, first, ru);
  if (verdict.refusal !== undefined) return refuse(refusalPacers, request, reply, verdict);
  setLimitHeaders(request, reply, verdict, fromHundredths(toHundredths(request.spentRu) + toHundredths(ru)));
}

async function refuse(
  refusalPacers: Services['refusalPacers'],
  request: FastifyRequest,
  reply: FastifyReply,
  verdict: Refused,
): Promise<never> {
  setLimitHeaders(request, reply, verdict, 0);
  request.refusal = verdict.refusal;
  await refusalPacers.wait((request.apiKey as RequestKey).bucket.name, reply.raw);
  throw new HttpError(429, 'Rate limit exceeded', { retryAfterSeconds: verdict.resetSeconds });
}

/** Requires a key on every route of this instance, and meters each request that is admitted. */
export function requireKey(
  app: FastifyInstance,
  { admission, isAnonymousAllowed, anonymousPacer, refusalPacers, turns }: Services,
): void {
  app.decorateRequest('apiKey', null);
  app.decorateRequest('charge', null);
  app.decorateRequest('spentRu', 0);
  app.decorateRequest('refusal', null);

  app.addHook('onRequest', (request, reply, done) => {
    const operation = operationOf(request);
    // Such as a token, or the secret of a webhook.
    reply.header('cache-control', operation.requiresKey === true ? 'no-store' : CACHE_CONTROL);
    const credential = credentialOf(request, operation);
    const admitted =
      credential === undefined
        ? admitAnonymous(request, operation)
        : isMisplaced(request, credential)
          ? undefined
          : admission.admit(credential, operation.cost);
    const begun = whenKnown(admitted, (known) =>
      known === undefined
        ? refuseKey(request, reply, credential === undefined)
        : begin(request, reply, known, operation),
    );
    if (begun === undefined) done();
    return begun;
  });

  // The items of a request are counted and charged once the body is known to be valid.
  app.addHook('onRoute', (route) => {
    const operation = route.config?.operation;
    if (!isPaid(operation) || operation.countItems === undefined) return;
    const chargeItems = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (request.body === undefined) return;
      const groups = Math.ceil((operation.countItems?.(request.body) ?? 0) / ITEMS_PER_COST);
      const beyond = fromHundredths(toHundredths(operation.cost) * (groups - 1));
      await chargeBeyond({ admission, refusalPacers }, request, reply, beyond);
    };
    route.preHandler = [chargeItems, ...[route.preHandler ?? []].flat()];
  });

  function admitAnonymous(
    request: FastifyRequest,
    { cost, submits, requiresKey }: PaidOperation,
  ): Awaitable<Admitted | undefined> {
    if (!isAnonymousAllowed || submits === true || requiresKey === true) return undefined;
    return admission.admitAnonymous(clientOf(request.ip), cost);
  }

  /** @throws HttpError 403, 415, 429 or 503 */
  function begin(
    request: FastifyRequest,
    reply: FastifyReply,
    admitted: Admitted,
    { cost, submits }: PaidOperation,
  ): Promise<void> | undefined {
    const { apiKey, verdict } = admitted;
    request.apiKey = apiKey;
    if (verdict === undefined) throw admitted.error;
    if (verdict.refusal !== undefined) return refuse(refusalPacers, request, reply, verdict);
    setLimitHeaders(request, reply, verdict, cost);
    request.charge = verdict.charge;
    reply.raw.on('close', () => {
      if (reply.hasResponse) releaseRequest(request, admission);
    });
    // The response was not ready in time, and has been sent without a charge.
    if (reply.raw.writableEnded) releaseRequest(request, admission);

    if (apiKey.readOnly && submits === true) {
      request.refusal = 'read_only';
      throw new HttpError(403, 'The API key is read-only: it may not submit to the network');
    }
    requireUncompressedBody(request);
    // Bodies that take milliseconds to parse and validate take turns.
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const isLarge = encoding !== undefined || Number(length ?? 0) >= LARGE_BODY_BYTES;
    return isLarge ? turns.next(callerOf(request)) : undefined;
  }

  async function refuseKey(request: FastifyRequest, reply: FastifyReply, isMissing: boolean): Promise<never> {
    request.refusal = isMissing ? 'missing_key' : 'invalid_key';
    await anonymousPacer.wait(reply.raw);
    throw new HttpError(401, isMissing ? 'x-api-key is missing from header' : 'Invalid API key');
  }
}

/**
 * Frees the slot of a request. A request is in flight until both its computation, which continues
 * if the client disconnects, and its response have finished.
 */
export function releaseRequest(request: FastifyRequest, admission: Admission): void {
  const { apiKey, charge } = request;
  // Requests that need no key have neither.
  if (!charge || !apiKey) return;
  request.charge = null;
  admission.release(apiKey);
}

function setLimitHeaders(request: FastifyRequest, reply: FastifyReply, standing: Standing, ru: number): void {
  request.spentRu = ru;
  reply.headers(limitHeaders(request.apiKey as RequestKey, standing, ru));
}

const limitHeaders = ({ bucket }: RequestKey, standing: Standing, ru: number) => ({
  'x-request-cost-ru': String(ru),
  'ratelimit-limit': `${bucket.rateRu};w=${bucket.windowSeconds}`,
  'ratelimit-remaining': String(standing.remainingRu),
  'ratelimit-reset': String(standing.resetSeconds),
});

type PaidOperation = AnyOperation & { cost: number };

const isPaid = (operation: AnyOperation | undefined): operation is PaidOperation => operation?.cost !== undefined;

function operationOf({ routeOptions: { url, config } }: FastifyRequest): PaidOperation {
  const { operation } = config;
  if (!isPaid(operation)) throw new Error(`No cost is declared for ${url}`);
  return operation;
}
