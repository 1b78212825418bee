/** GET /v1/ws: the messages of streams over a WebSocket, whose subscriptions can change. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  countWatched,
  encoder,
  type EventName,
  EVENTS,
  type Message,
  NO_SUBSCRIPTION,
  type Subscription,
  toMessage,
  webSocketMessage,
} from '@kasgres/chain-steps';
import { toHex } from '@kasgres/kaspa';
import { badRequest, HttpError, list } from '@kasgres/reads';
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { envelopeOf, internalError } from '../http/error-envelope.ts';
import { parseJson } from '../http/json-body.ts';
import { pathOf } from '../http/request-identity.ts';
import { toHttpError } from '../http/to-http-error.ts';
import { validate } from '../http/validation.ts';
import { releaseRequest } from '../limits/authentication.ts';
import { fromHundredths, toHundredths } from '../limits/hundredths.ts';
import type { ApiPlugin } from '../openapi/route.ts';
import type { Services } from '../services.ts';
import type { StreamSlot } from './stream-slots.ts';
import { MAX_WATCHED, requireOneChoice, subscriptionBody, toSubscription } from './routes.ts';
import type { Output, Subscriber } from './subscriber.ts';

const TRY_AGAIN_LATER = 1013;
const GOING_AWAY = 1001;
const INTERNAL_ERROR = 1011;
const POLICY_VIOLATION = 1008;
const PING_MS = 15_000;
const SUBSCRIBE_WITHIN_MS = 30_000;
/** A message has up to 256 KiB, and a command may wait ten seconds for its block. */
const MAX_PENDING_COMMANDS = 16;
const COMMAND_RU = 0.1;
/** Addresses and covenants. */
const WATCHED_PER_COST = 20;
const LARGE_COMMAND_BYTES = 4096;
const REFUSAL_PAUSE_MS = 1000;
/** The path of errors in the parameters of a command. */
const PATH = 'subscribe.';

const id = z.int().optional();
const events = list(z.enum(EVENTS), EVENTS.length);

const subscription = z.strictObject({
  id,
  subscribe: z.strictObject({
    ...subscriptionBody,
    events: events.optional(),
    include: z.literal('accepted_ids').optional(),
  }),
});

const cancellation = z.strictObject({
  id,
  unsubscribe: z.strictObject({
    events: events.default([]),
    addresses: subscriptionBody.addresses,
    covenants: subscriptionBody.covenants,
    template: subscriptionBody.template,
  }),
});

type Command = z.output<typeof subscription> | z.output<typeof cancellation>;

/** @throws HttpError 400 */
function parseCommand(message: object): Command {
  return 'unsubscribe' in message ? validate(cancellation, message) : validate(subscription, message);
}

const operation = {
  method: 'GET',
  url: '/v1/ws',
  operationId: 'openWebSocket',
  summary: 'The same events over a WebSocket, whose subscriptions can change',
  description:
    'Send `{"id":1,"subscribe":{"events":["chain"],"addresses":[],"confirmations":10,"from":"…"}}` or `unsubscribe`; the response is ' +
    '`{"event":"subscribed","data":{"id":1,"addresses":0,"covenants":0,"template":null,"cursor":"…"}}`. Messages are `{"event","id","data"}` ' +
    'as in the stream. A command costs 0.1 RU for each 20 addresses and covenants that it begins.',
  tag: 'Stream',
  cost: 0.5,
  acceptsToken: true,
  isFromIndex: false,
  errors: [426],
  query: z.strictObject({ token: z.string().max(200).optional().meta({ description: 'A token instead of the key' }) }),
  response: webSocketMessage,
} as const;

/** The headers without which no WebSocket is opened (RFC 6455). */
const handshake = z.object({
  'sec-websocket-key': z.string().regex(/^[+/0-9A-Za-z]{22}==$/, 'must be the base64 of 16 bytes'),
  'sec-websocket-version': z.enum(['8', '13']),
});

/** Whether a request asks for the only upgrade that the API serves. */
export const isWebSocketRequest = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && pathOf({ url }) === operation.url;

const slots = new WeakMap<FastifyRequest, StreamSlot>();

export const openWebSocket: ApiPlugin = async (app, services) => {
  app.route({
    method: 'GET',
    url: operation.url,
    exposeHeadRoute: false,
    config: { operation },
    schema: { querystring: operation.query },
    preHandler: async (request, reply) => {
      if (!request.ws) {
        reply.headers({ upgrade: 'websocket', connection: 'upgrade' });
        throw new HttpError(426, 'This is a WebSocket: connect with the protocol ws or wss');
      }
      validate(handshake, request.headers);
      // No subprotocol is served, so none is confirmed.
      delete request.headers['sec-websocket-protocol'];
      // A WebSocket is no request in flight, and a handshake that fails from here on has no
      // response that would release it.
      releaseRequest(request, services.admission);
      const slot = services.streams.takeSlot(request);
      slots.set(request, slot);
      const { socket } = request.raw;
      if (socket.destroyed) slot.release();
      // It closes if the handshake fails, too.
      else socket.once('close', () => slot.release());
    },
    handler: () => undefined,
    wsHandler: (socket: WebSocket, request: FastifyRequest) => {
      const slot = slots.get(request) ?? services.streams.takeSlot(request);
      return void new Connection(socket, request, services, slot);
    },
  });
};

const encode = encoder(
  ({ event, data, id }) => `{"event":"${event}",${id === undefined ? '' : `"id":"${id}",`}"data":${data}}`,
);

class Connection {
  readonly #socket: WebSocket;
  readonly #request: FastifyRequest;
  readonly #services: Services;
  readonly #slot: StreamSlot;
  #opened: { subscriber: Subscriber; close: () => void } | undefined;
  /** Commands run one after the other. */
  #running: Promise<void> = Promise.resolve();
  #pendingCommands = 0;

  constructor(socket: WebSocket, request: FastifyRequest, services: Services, slot: StreamSlot) {
    this.#slot = slot;
    slot.onTaken = () => socket.close(TRY_AGAIN_LATER, 'too many streams');
    this.#socket = socket;
    this.#request = request;
    this.#services = services;
    const ping = setInterval(() => socket.ping(), PING_MS).unref();
    // A connection without a subscription is not charged, and so does not stay.
    const idle: NodeJS.Timeout = setTimeout(() => {
      // A command may wait for its turn for as long.
      if (this.#pendingCommands > 0) idle.refresh();
      else if (this.#opened === undefined) socket.close(POLICY_VIOLATION, 'no subscription');
    }, SUBSCRIBE_WITHIN_MS).unref();
    socket.on('message', (data: Buffer) => {
      if (this.#pendingCommands === MAX_PENDING_COMMANDS) {
        socket.close(POLICY_VIOLATION, 'too many pending commands');
        return;
      }
      this.#pendingCommands += 1;
      this.#running = this.#running
        .then(() => this.#receive(String(data)))
        .finally(() => {
          this.#pendingCommands -= 1;
        });
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearInterval(ping);
      clearTimeout(idle);
      this.#opened?.close();
      slot.release();
    });
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  async #receive(text: string): Promise<void> {
    const { streams, turns } = this.#services;
    const { caller } = this.#slot;
    let id: number | null = null;
    try {
      // Commands that take milliseconds take turns, as bodies of requests do.
      const isLarge = text.length >= LARGE_COMMAND_BYTES;
      if (isLarge) await turns.next(caller);
      if (!this.#isOpen) return;
      const message = await this.#parse(text);
      // The response to an invalid message has its id, too.
      if ('id' in message && typeof message.id === 'number') ({ id } = message);
      await streams.charge(this.#request, costOf(message));
      if (isLarge) await turns.next(caller);
      if (!this.#isOpen) return;
      const parsed = parseCommand(message);
      const cursor = 'subscribe' in parsed ? await this.#subscribe(parsed) : this.#unsubscribe(parsed);
      const { addresses, covenants, template = null } = this.#opened?.subscriber.subscription ?? NO_SUBSCRIPTION;
      const held = { addresses: addresses.size, covenants: covenants.size, template };
      this.#send(toMessage('subscribed', { id, ...held, cursor }));
    } catch (error) {
      const { id: requestId, log } = this.#request;
      const known = toHttpError(error);
      // A client that does not wait has its next commands refused as slowly.
      if (known?.statusCode === 429) await sleep(REFUSAL_PAUSE_MS);
      if (known === undefined) log.error({ err: error, requestId }, 'WebSocket command failed');
      const { statusCode, message, details } = known ?? internalError(requestId);
      const envelope = envelopeOf(statusCode, message, details);
      this.#send(toMessage('error', { id, ...envelope }));
    }
  }

  /** @throws HttpError 400 for a message that is no object, which is charged, too */
  async #parse(text: string): Promise<object> {
    try {
      return parse(text);
    } catch (error) {
      await this.#services.streams.charge(this.#request, COMMAND_RU);
      throw error;
    }
  }

  async #subscribe({ subscribe }: z.output<typeof subscription>): Promise<string> {
    const { streams } = this.#services;
    const { caller } = this.#slot;
    const { from, ...given } = subscribe;
    const opened = this.#opened;
    const byDefault: EventName[] = opened === undefined ? ['chain'] : [];
    const added = await toSubscription(this.#services, { ...given, events: given.events ?? byDefault }, PATH);
    if (opened === undefined) {
      const start = await streams.findStart(caller, from, added);
      this.#slot.hold(countWatched(added));
      // A stream that begins after the client has disconnected would never be closed.
      if (this.#isOpen) this.#opened = streams.open(this.#request, this.#output(), added, start, this.#slot);
      // Steps from there on may be sent already.
      return this.#opened?.subscriber.cursor ?? start.cursor;
    }
    // A refused command changes nothing.
    if (from !== undefined) await streams.findStart(caller, from, added);
    const { subscriber } = opened;
    this.#slot.hold(countWatched(sumOf(subscriber.subscription, added)));
    try {
      return from === undefined ? subscriber.subscribe(added) : await subscriber.subscribeFrom(toHex(from), added);
    } finally {
      // A read of the past may have failed.
      this.#slot.hold(countWatched(subscriber.subscription));
    }
  }

  #unsubscribe({ unsubscribe }: z.output<typeof cancellation>): string | null {
    const { subscriber } = this.#opened ?? {};
    if (subscriber === undefined) return null;
    const cursor = subscriber.unsubscribe(unsubscribe);
    if (unsubscribe.events.includes('mempool')) this.#services.streams.mempoolEvents.forget(subscriber);
    this.#slot.hold(countWatched(subscriber.subscription));
    return cursor;
  }

  #send(...messages: readonly Message[]): void {
    this.#output().send(messages);
  }

  #output(): Output {
    const socket = this.#socket;
    const connection = this.#request.socket;
    return {
      send: (messages) => {
        if (!this.#isOpen) return;
        connection.cork();
        for (const message of messages) socket.send(encode(message), { binary: false });
        connection.uncork();
      },
      get unsentBytes() {
        return socket.bufferedAmount;
      },
      close: (reason) => {
        if (reason === 'slow') {
          socket.close(TRY_AGAIN_LATER, 'too slow');
          // The closing frame would wait behind what is unsent.
          setTimeout(() => socket.terminate(), 1000).unref();
        } else socket.close(reason === 'ended' ? GOING_AWAY : INTERNAL_ERROR);
      },
    };
  }
}

/** Returns what a connection will watch. @throws HttpError 400 if that is too much */
function sumOf(subscription: Subscription, added: Subscription): Subscription {
  const addresses = new Set([...subscription.addresses, ...added.addresses]);
  const covenants = new Set([...subscription.covenants, ...added.covenants]);
  const template = added.template ?? subscription.template;
  for (const [name, { size }] of Object.entries({ addresses, covenants })) {
    if (size > MAX_WATCHED) {
      throw badRequest({ path: PATH + name, message: `a connection may have ${MAX_WATCHED} ${name}` });
    }
  }
  requireOneChoice(
    { covenants: covenants.size, template },
    added.template === undefined ? 'covenants' : 'template',
    PATH,
  );
  return { ...subscription, addresses, covenants, template };
}

/** Counts a command that will be refused, too: the message is not validated yet. */
function costOf(message: object): number {
  type Named = { addresses?: unknown; covenants?: unknown };
  const { subscribe, unsubscribe } = message as Partial<Record<'subscribe' | 'unsubscribe', Named>>;
  const { addresses, covenants } = subscribe ?? unsubscribe ?? {};
  const watched = [addresses, covenants].reduce<number>(
    (sum, names) => sum + (Array.isArray(names) ? names.length : 0),
    0,
  );
  return fromHundredths(toHundredths(COMMAND_RU) * Math.max(Math.ceil(watched / WATCHED_PER_COST), 1));
}

function parse(text: string): object {
  const message = parseJson(text);
  if (typeof message !== 'object' || message === null) throw new HttpError(400, 'The message is not an object');
  return message;
}
