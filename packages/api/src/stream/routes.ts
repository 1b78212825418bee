/** GET and POST /v1/stream: Server-Sent Events; POST /v1/stream/tokens. */
import {
  countWatched,
  encoder,
  type EventName,
  EVENTS,
  eventsOf,
  streamMessage,
  type Subscription,
} from '@kasgres/chain-steps';
import { hashKey } from '@kasgres/database';
import {
  addressInput,
  badRequest,
  hashInput,
  hexHashInput,
  HttpError,
  list,
  requireCaughtUp,
  requireNetworkOfAll,
  timestamp,
  unavailable,
} from '@kasgres/reads';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { releaseRequest } from '../limits/authentication.ts';
import { createToken, TOKEN_LIFE_MS } from '../limits/stream-tokens.ts';
import { rawRoute, route } from '../openapi/route.ts';
import type { Services } from '../services.ts';
import type { StreamSlot } from './stream-slots.ts';
import type { Start } from './streams.ts';
import type { Output } from './subscriber.ts';

const MAX_IN_URL = 100;
/** The most addresses of a subscription, and the most covenants. */
export const MAX_WATCHED = 1000;
const MAX_CONFIRMATIONS = 1_000_000;
const RETRY_MS = 2000;
const RETRY_AFTER_SECONDS = 5;

const common = {
  tag: 'Stream',
  cost: 0.5,
  acceptsToken: true,
  responseType: 'text/event-stream',
  response: streamMessage,
  errors: [404, 409],
} as const;

const DESCRIPTION =
  'Chain blocks removed and added, new blocks, activity of addresses and covenants, and the mempool, as Server-Sent Events. The `id` of an event is the chain block ' +
  'that was reached: a client that returns with it as `last-event-id`, or `from`, first gets what was removed and added since. Costs 0.1 RU for ' +
  'each further minute.';

const confirmations = z
  .unknown()
  .refine((text) => /^\d{1,7}$/.test(String(text)), 'must be a whole number')
  .transform(Number)
  .refine((value) => value >= 1 && value <= MAX_CONFIRMATIONS, `must be from 1 to ${MAX_CONFIRMATIONS}`)
  .optional()
  .meta({
    type: 'integer',
    minimum: 1,
    maximum: MAX_CONFIRMATIONS,
    description:
      'Blue scores after which an accepted transaction of an address or covenant is announced as `confirmed`',
  });

const from = hashInput.optional().meta({ description: 'The block to continue from; default: the sink' });

const eventNames = z.enum(EVENTS);

const include = z
  .enum(['accepted_ids'])
  .optional()
  .meta({ description: 'Adds the ids of accepted transactions to added chain blocks' });

const template = hexHashInput.optional().meta({
  description:
    'Instead of ids: the events after which a covenant has this template, which is that of the last program that its spends have revealed',
});

const inUrl = {
  lastEventId: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'What `last-event-id` is for clients that cannot set a header; an empty text is none' }),
  token: z.string().max(200).optional().meta({ description: 'A token instead of the key, for browsers' }),
};

/** The query string, where one address or id is a text and several are a list. */
const query = z.strictObject({
  events: z
    .string()
    .default('chain')
    .transform((text) => text.split(','))
    .pipe(z.array(eventNames))
    .meta({ type: 'string', description: `Kinds of events, separated by commas: ${EVENTS.join(', ')}` }),
  address: z
    .union([z.array(addressInput).max(MAX_IN_URL), addressInput.transform((address) => [address])])
    .optional()
    .meta({ description: `Addresses whose activity is sent; may be repeated up to ${MAX_IN_URL} times` }),
  covenant: z
    .union([z.array(hexHashInput).max(MAX_IN_URL), hexHashInput.transform((id) => [id])])
    .optional()
    .meta({ description: `Ids of covenants whose events are sent; may be repeated up to ${MAX_IN_URL} times` }),
  template,
  confirmations,
  from,
  include,
  ...inUrl,
});

export const addressList = list(addressInput, MAX_WATCHED);

export const covenantList = list(hexHashInput, MAX_WATCHED).meta({
  description: 'Ids of covenants whose events are sent',
});

export const subscriptionBody = {
  events: list(eventNames, EVENTS.length).default(['chain']),
  addresses: addressList.default([]),
  covenants: covenantList.default([]),
  template,
  confirmations: z.int().min(1).max(MAX_CONFIRMATIONS).optional(),
  from,
};

const body = z.strictObject({ ...subscriptionBody, include });

interface Given {
  events: readonly EventName[];
  addresses: readonly string[];
  covenants: readonly string[];
  template?: string | undefined;
  confirmations?: number | undefined;
  include?: 'accepted_ids' | undefined;
}

/**
 * @param path of what is given, in the request
 * @throws HttpError 400 for an address of another network, or for covenants and a template; 503 for
 * either of these during the first catch-up
 */
export async function toSubscription({ index }: Services, given: Given, path = ''): Promise<Subscription> {
  const { addresses, covenants, template } = given;
  requireNetworkOfAll(await index.getNetwork(), addresses, `${path}addresses`);
  requireOneChoice({ covenants: covenants.length, template }, 'template', path);
  if (covenants.length > 0 || template !== undefined) requireCaughtUp(await index.getSettledState());
  return {
    events: eventsOf(given.events, given),
    addresses: new Set(addresses),
    covenants: new Set(covenants),
    template,
    confirmations: given.confirmations,
    withIds: given.include !== undefined,
  };
}

/**
 * @param covenants their number
 * @param given the field of the request that makes it a choice of both
 * @param path of what is given, in the request
 * @throws HttpError 400 for covenants and a template
 */
export function requireOneChoice(
  { covenants, template }: { covenants: number; template?: string | null | undefined },
  given: 'covenants' | 'template' = 'template',
  path = '',
): void {
  if (covenants === 0 || template == null) return;
  const other = given === 'template' ? 'covenants' : 'a template';
  throw badRequest({ path: path + given, message: `must not be given with ${other}` });
}

/** The addresses and covenants of a subscription. */
export interface Watched {
  addresses: readonly string[];
  covenants: readonly string[];
  template?: string | null | undefined;
}

/**
 * @param names of the fields in the request
 * @throws HttpError 400 for a subscription that would get nothing
 */
export function requireWatched(
  events: readonly EventName[],
  { addresses, covenants, template }: Watched,
  names = { addresses: 'addresses', covenants: 'covenants' },
): void {
  const needsNone = events.some((event) => event !== 'address' && event !== 'covenant');
  if (needsNone || addresses.length > 0 || covenants.length > 0 || template != null) return;
  if (events.length === 0) throw badRequest({ path: 'events', message: 'must name at least one kind of event' });
  const [path, event] = events.includes('address') ? [names.addresses, 'address'] : [names.covenants, 'covenant'];
  throw badRequest({ path, message: `must not be empty for the event ${event}` });
}

async function stream(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  subscription: Subscription,
  given: Uint8Array | undefined,
): Promise<void> {
  const { streams } = services;
  const slot = streams.takeSlot(request);
  const start = await beginAt(services, request, subscription, given, slot).catch((error: unknown) => {
    slot.release();
    throw error;
  });
  // A stream is not a request in flight, of which a key has few. If the client has disconnected
  // meanwhile, no response releases it.
  releaseRequest(request, services.admission);
  if (reply.sent || reply.raw.destroyed) return slot.release();
  const { raw } = reply;
  const headers = reply.getHeaders() as Record<string, string>;
  reply.hijack();
  // Without chunks, messages are written to the connection as they are, and the stream ends with
  // it.
  raw.useChunkedEncodingByDefault = false;
  raw.shouldKeepAlive = false;
  raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  raw.write(`retry: ${RETRY_MS}\n\n`);
  const { close } = streams.open(request, outputOf(raw), subscription, start, slot);
  raw.once('close', close);
}

/**
 * @throws HttpError 503 if there is no room for the stream, or another one got its slot meanwhile
 */
async function beginAt(
  { streams }: Services,
  request: FastifyRequest,
  subscription: Subscription,
  given: Uint8Array | undefined,
  slot: StreamSlot,
): Promise<Start> {
  slot.hold(countWatched(subscription));
  const start = await streams.findStart(slot.caller, lastEventId(request) ?? given, subscription);
  if (slot.isTaken) throw unavailable('This server has too many streams', RETRY_AFTER_SECONDS);
  return start;
}

function outputOf(raw: FastifyReply['raw']): Output {
  const { socket } = raw;
  if (socket === null) throw new Error('the connection of a stream has no socket');
  return {
    send: (messages) => {
      const [first] = messages;
      if (first !== undefined)
        socket.write(messages.length === 1 ? encode(first) : Buffer.concat(messages.map(encode)));
    },
    get unsentBytes() {
      return socket.writableLength;
    },
    close: (reason) => {
      if (reason === 'slow') raw.destroy();
      else raw.end();
    },
  };
}

const encode = encoder(
  ({ event, data, id }) => `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`,
);

/**
 * Returns the id that the client continues from. Clients that cannot set the header, such as
 * replacements of EventSource, have it in the URL.
 * @throws HttpError 400 for an id that is no hash
 */
function lastEventId({ headers, query: given }: FastifyRequest): Uint8Array | undefined {
  const { lastEventId: inUrl } = given as { lastEventId?: string };
  const id = headers['last-event-id'] || inUrl;
  if (id === undefined || id === '') return undefined;
  const parsed = hashInput.safeParse(String(id));
  const path = headers['last-event-id'] ? 'last-event-id' : 'lastEventId';
  if (!parsed.success) throw badRequest({ path, message: 'must be the id of an event: 64 hex digits' });
  return parsed.data;
}

export const getStream = rawRoute(
  {
    ...common,
    method: 'GET',
    url: '/v1/stream',
    operationId: 'getStream',
    summary: 'Events of the chain, addresses, covenants and the mempool as they happen',
    description: DESCRIPTION,
    query,
  },
  async (
    services,
    request,
    reply,
    { query: { address: addresses = [], covenant: covenants = [], from: start, ...given } },
  ) => {
    const watched = { ...given, addresses, covenants };
    requireWatched(given.events, watched, { addresses: 'address', covenants: 'covenant' });
    return stream(services, request, reply, await toSubscription(services, watched), start);
  },
);

export const postStream = rawRoute(
  {
    ...common,
    method: 'POST',
    url: '/v1/stream',
    operationId: 'postStream',
    summary: `The same for up to ${MAX_WATCHED} addresses and as many covenants`,
    description: DESCRIPTION,
    query: z.strictObject(inUrl),
    body,
  },
  async (services, request, reply, { body: { from: start, ...given } }) => {
    requireWatched(given.events, given);
    return stream(services, request, reply, await toSubscription(services, given), start);
  },
);

export const createStreamToken = route(
  {
    method: 'POST',
    url: '/v1/stream/tokens',
    operationId: 'createStreamToken',
    summary: 'Create a token for streams in browsers',
    description:
      'An EventSource or WebSocket of a browser cannot send a key; it sends the token as `?token=`. Revoking the key ends its streams.',
    tag: 'Stream',
    cost: 0.1,
    requiresKey: true,
    response: z.object({ token: z.string(), expiresAt: timestamp }),
  },
  async ({ request }) => {
    const { apiKey, headers } = request;
    if (apiKey?.id == null) throw new HttpError(401, 'x-api-key is missing from header');
    const expiresAt = Date.now() + TOKEN_LIFE_MS;
    return { token: createToken(apiKey.id, hashKey(String(headers['x-api-key'])), expiresAt), expiresAt };
  },
);
