import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { type EventName, type Subscription } from '@kasgres/chain-steps';
import { NodeUnavailableError } from '@kasgres/node';
import { EventLoopTurns, HttpError } from '@kasgres/reads';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Services } from '../services.ts';
import { StreamSlot } from './stream-slots.ts';
import type { Start } from './streams.ts';
import { openWebSocket } from './websocket.ts';

const SINK = 'ab'.repeat(32);
const REACHED = 'cd'.repeat(32);
const START: Start = { cursor: SINK, sink: { hash: SINK, blueScore: 5n } };

class FakeSocket extends EventEmitter {
  readonly OPEN = WebSocket.OPEN;
  readyState: number = WebSocket.OPEN;
  readonly sent: unknown[] = [];
  closedWith: number | undefined;
  ping(): void {}
  terminate(): void {}
  send(bytes: Buffer): void {
    this.sent.push(JSON.parse(String(bytes)));
  }
  /** The handshake of the end takes a while. */
  close(code: number): void {
    this.readyState = WebSocket.CLOSING;
    this.closedWith ??= code;
  }
  disconnect(): void {
    this.readyState = WebSocket.CLOSED;
    this.emit('close');
  }
}

const REQUEST_ID = 'the id of the request';
const subscribeFrom = () => Promise.reject(new NodeUnavailableError('a failure'));

/** A connection whose streams begin when `start` is called. */
async function connect(
  getNetwork: () => Promise<object> = async () => ({}),
  { refused = 0, hold = (_change: number) => {} } = {},
) {
  const charged: number[] = [];
  const { promise, resolve } = Promise.withResolvers<Start>();
  const calls = { findStart: 0, open: 0 };
  const forgotten: Subscription[] = [];
  const services = {
    index: { getNetwork, getSettledState: async () => ({ firstCatchUp: false }) },
    turns: new EventLoopTurns(),
    streams: {
      takeSlot: () => new StreamSlot('key:1', () => {}, hold),
      charge: async (_request: unknown, ru: number) => {
        charged.push(ru);
        if (refused > 0) throw new HttpError(429, 'Rate limit exceeded');
      },
      findStart: () => {
        calls.findStart += 1;
        return promise;
      },
      open: (_request: unknown, _output: unknown, subscription: Subscription) => {
        calls.open += 1;
        const unsubscribe = ({ events }: { events: EventName[] }) => {
          for (const event of events) subscription.events.delete(event);
          return SINK;
        };
        const subscriber = { subscription, subscribe: () => SINK, subscribeFrom, unsubscribe, cursor: REACHED };
        return { subscriber, close: () => {} };
      },
      mempoolEvents: {
        forget: ({ subscription }: { subscription: Subscription }) => void forgotten.push(subscription),
      },
    },
  } as unknown as Services;
  let handle: ((socket: WebSocket, request: FastifyRequest) => void) | undefined;
  const app = { route: ({ wsHandler }: { wsHandler: typeof handle }) => (handle = wsHandler) };
  await openWebSocket(app as unknown as FastifyInstance, services);
  const socket = new FakeSocket();
  const lines: unknown[] = [];
  const log = { error: (...line: readonly unknown[]) => void lines.push(line) };
  const request = { id: REQUEST_ID, log, charge: null, socket: { cork: () => {}, uncork: () => {} } };
  handle?.(socket as unknown as WebSocket, request as unknown as FastifyRequest);
  onTestFinished(() => socket.disconnect());
  return {
    socket,
    calls,
    forgotten,
    charged,
    lines,
    send: async (text: string) => {
      socket.emit('message', Buffer.from(text));
      await turn();
    },
    start: async () => {
      resolve(START);
      await turn();
    },
  };
}

const SUBSCRIBE = JSON.stringify({ id: 1, subscribe: {} });

test('it begins no stream for a client that disconnects while its start is looked up, and runs no further command', async () => {
  const { socket, calls, send, start } = await connect();
  await send(SUBSCRIBE);
  await send(SUBSCRIBE);
  socket.disconnect();
  await start();
  expect(calls).toEqual({ findStart: 1, open: 0 });
});

test('it closes a connection without a subscription after 30 seconds, and none whose command waits', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const [waiting, silent] = [await connect(), await connect()];
  await waiting.send(SUBSCRIBE);
  vi.advanceTimersByTime(30_000);
  expect([waiting.socket.closedWith, silent.socket.closedWith]).toEqual([undefined, 1008]);
  await waiting.start();
  vi.advanceTimersByTime(30_000);
  expect([waiting.socket.closedWith, waiting.calls.open]).toEqual([undefined, 1]);
});

test('it begins the stream of a client that is still connected, and says what it has reached', async () => {
  const { socket, calls, send, start } = await connect();
  await send(SUBSCRIBE);
  await start();
  expect(calls).toEqual({ findStart: 1, open: 1 });
  expect(socket.sent).toEqual([
    { event: 'subscribed', data: { id: 1, addresses: 0, covenants: 0, template: null, cursor: REACHED } },
  ]);
});

test('it closes the connection of a client that has more than 16 commands pending', async () => {
  const { socket, calls, send, start } = await connect();
  for (let count = 0; count < 16; count += 1) await send(SUBSCRIBE);
  expect(socket.closedWith).toBeUndefined();
  await send(SUBSCRIBE);
  expect(socket.closedWith).toBe(1008);
  await start();
  expect(calls).toEqual({ findStart: 1, open: 0 });
});

test('commands that have got their response are no longer pending', async () => {
  const { socket, calls, send, start } = await connect();
  await start();
  for (let count = 0; count < 40; count += 1) await send(SUBSCRIBE);
  expect(socket.closedWith).toBeUndefined();
  expect(socket.sent).toHaveLength(40);
  expect(calls.open).toBe(1);
});

test('unsubscribing from the mempool makes the next subscription begin with a snapshot', async () => {
  const { socket, forgotten, send, start } = await connect();
  await start();
  await send(JSON.stringify({ id: 1, subscribe: { events: ['chain', 'mempool'] } }));
  await send(JSON.stringify({ id: 2, unsubscribe: { events: ['chain'] } }));
  expect(forgotten).toEqual([]);
  await send(JSON.stringify({ id: 3, unsubscribe: { events: ['mempool'] } }));
  expect(forgotten).toMatchObject([{ events: new Set() }]);
  expect(socket.sent).toHaveLength(3);
});

test.each([
  [{ template: SINK }, { covenants: [SINK] }, 'subscribe.covenants'],
  [{ covenants: [SINK] }, { template: SINK }, 'subscribe.template'],
])('after %j, a refused command with %j is told its own field', async (first, second, path) => {
  const { socket, send, start } = await connect();
  await start();
  await send(JSON.stringify({ id: 1, subscribe: first }));
  await send(JSON.stringify({ id: 2, subscribe: second }));
  expect(socket.sent.at(-1)).toMatchObject({ event: 'error', data: { id: 2, statusCode: 400, details: [{ path }] } });
});

test('a command that fails while it reads the past holds nothing', async () => {
  let held = 0;
  const { socket, send, start } = await connect(undefined, { hold: (change: number) => void (held += change) });
  await start();
  await send(SUBSCRIBE);
  await send(JSON.stringify({ id: 2, subscribe: { covenants: [SINK], from: SINK } }));
  expect(socket.sent.at(-1)).toMatchObject({ event: 'error', data: { id: 2, statusCode: 503 } });
  expect(held).toBe(0);
});

test('it refuses a message that nests too deeply or has too many values before it parses it', async () => {
  const { socket, send } = await connect();
  for (const text of [`${'['.repeat(33)}${']'.repeat(33)}`, `[${'0,'.repeat(2048)}0]`, '{']) await send(text);
  expect(socket.sent).toEqual(
    ['has more than 32 levels', 'has more than 2048 values', 'is not valid JSON'].map((message) => ({
      event: 'error',
      data: {
        id: null,
        statusCode: 400,
        message: 'The request is malformed',
        details: [{ path: '', message }],
      },
    })),
  );
});

test('it logs an unexpected error of a command, and responds with the id of the request only', async () => {
  const err = new Error('a bug');
  const { socket, lines, send } = await connect(() => Promise.reject(err));
  await send(SUBSCRIBE);
  const message = `Internal server error (request ${REQUEST_ID})`;
  expect(socket.sent).toEqual([{ event: 'error', data: { id: 1, statusCode: 500, message } }]);
  expect(lines).toEqual([[{ err, requestId: REQUEST_ID }, 'WebSocket command failed']]);
});

test('it does not log a command that is refused, or fails for an outage', async () => {
  const { socket, lines, send } = await connect(() => Promise.reject(new NodeUnavailableError('no node')));
  await send(SUBSCRIBE);
  await send('{}');
  expect(socket.sent).toMatchObject([503, 400].map((statusCode) => ({ event: 'error', data: { statusCode } })));
  expect(lines).toEqual([]);
});

const addressesOf = (count: number) => Array.from({ length: count }, () => 'kaspa:invalid');

test('commands are charged for each 20 addresses begun, also when they are refused', async () => {
  const { charged, send, start } = await connect();
  await start();
  for (const count of [0, 1, 20, 21, 39, 40, 41])
    await send(JSON.stringify({ id: 1, subscribe: { addresses: addressesOf(count) } }));
  await send(JSON.stringify({ id: 2, unsubscribe: { addresses: addressesOf(21) } }));
  for (const text of ['{}', '{']) await send(text);
  expect(charged).toEqual([0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3, 0.2, 0.1, 0.1]);
});

test('a command beyond the limits of its key has no effect', async () => {
  const { socket, calls, send, start } = await connect(undefined, { refused: 1 });
  await start();
  await send(SUBSCRIBE);
  // The refusal comes a second later.
  expect(socket.sent).toEqual([]);
  await vi.waitFor(() => expect(socket.sent).toHaveLength(1), { timeout: 3000 });
  expect(calls).toEqual({ findStart: 0, open: 0 });
  expect(socket.sent).toMatchObject([{ event: 'error', data: { id: 1, statusCode: 429 } }]);
});
