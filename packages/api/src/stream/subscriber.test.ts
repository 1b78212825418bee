import { type Message, NO_SUBSCRIPTION, type Sink, type Step } from '@kasgres/chain-steps';
import { notFound } from '@kasgres/reads';
import { createLogger } from '@kasgres/runtime';
import { afterEach, expect, test, vi } from 'vitest';
import { type Output, Subscriber } from './subscriber.ts';

afterEach(() => void vi.useRealTimers());

const SINK = 'ab'.repeat(32);
const REQUEST_ID = 'the id of the request';
const BLOCK: Message = { event: 'block', data: '{}' };

/**
 * A subscriber at the sink, whose client has not taken a number of bytes. The sink of the index may
 * be another one by now.
 */
function subscribe(
  unsent: () => number,
  sinks: { first: Sink; later?: Sink } = { first: { hash: SINK, blueScore: 5n } },
  readStep = async (): Promise<Step | undefined> => undefined,
) {
  const sent: Message[] = [];
  const writes: (readonly Message[])[] = [];
  /** The steps of the follower, and its cursor. */
  const followed: { steps: Step[]; cursor: string } = { steps: [], cursor: SINK };
  let catchUps = 0;
  const closed: string[] = [];
  const lines: string[] = [];
  const output: Output = {
    send: (messages) => {
      sent.push(...messages);
      writes.push(messages);
    },
    get unsentBytes() {
      return unsent();
    },
    close: (reason) => void closed.push(reason),
  };
  const stepsFrom = (hash: string): Step[] | undefined => {
    if (hash === followed.cursor) return [];
    const first = followed.steps.findIndex(({ from }) => from === hash);
    return first === -1 ? undefined : followed.steps.slice(first);
  };
  const read = (blocks: readonly Message[], ...steps: Step[]) => {
    followed.steps.push(...steps);
    followed.cursor = steps.at(-1)?.to ?? followed.cursor;
    subscriber.onRead(blocks);
  };
  const follower = { sink: sinks.later, add: () => {}, remove: () => {}, stepsFrom, nextRead: async () => {} };
  const subscriber = new Subscriber({
    follower: follower,
    streams: {
      readStep: () => {
        catchUps += 1;
        return readStep();
      },
    },
    caller: 'a key',
    isAnonymous: false,
    output,
    logger: createLogger({ name: 'subscriber under test', destination: { write: (line) => void lines.push(line) } }),
    requestId: REQUEST_ID,
    subscription: { ...NO_SUBSCRIPTION, events: new Set(['chain', 'block']) },
    cursor: SINK,
    sink: sinks.first,
  });
  subscriber.start();
  return { subscriber, sent, writes, closed, lines, read, catchUps: () => catchUps };
}

test('it closes a client with more than a megabyte unsent for ten seconds, and no other', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  let unsent = 2 ** 20;
  const { subscriber, closed } = subscribe(() => unsent);
  subscriber.send([BLOCK]);
  vi.advanceTimersByTime(60_000);
  expect(closed).toEqual([]);
  unsent = 2 ** 20 + 1;
  subscriber.send([BLOCK]);
  vi.advanceTimersByTime(9000);
  unsent = 0;
  vi.advanceTimersByTime(2000);
  unsent = 2 ** 20 + 1;
  subscriber.send([BLOCK]);
  vi.advanceTimersByTime(9000);
  expect(closed).toEqual([]);
  vi.advanceTimersByTime(2000);
  expect(closed[0]).toBe('slow');
  subscriber.close();
});

test('it sends a heartbeat with the cursor and the sink of the index at once, and every 15 seconds', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const first = { hash: 'cd'.repeat(32), blueScore: 8n };
  const later = { hash: 'ef'.repeat(32), blueScore: 9n };
  const { subscriber, sent } = subscribe(() => 0, { first, later });
  vi.advanceTimersByTime(31_000);
  subscriber.close();
  vi.advanceTimersByTime(31_000);
  expect(sent).toEqual(
    [first, later, later].map(({ hash, blueScore }) => ({
      event: 'heartbeat',
      data: JSON.stringify({ sink: hash, blueScore: String(blueScore) }),
      id: SINK,
    })),
  );
});

const makeStep = (from: string, to: string): Step => ({
  from,
  to,
  blueScore: 6n,
  isCaughtUp: true,
  hasBalances: true,
  removed: [],
  added: [],
  changes: undefined,
  covenants: undefined,
});

const [FIRST, SECOND, OTHER] = ['cd', 'ef', '12'].map((byte) => byte.repeat(32)) as [string, string, string];

test('what the follower has read since the last time is written at once', () => {
  const { subscriber, read, writes } = subscribe(() => 0);
  read([BLOCK, BLOCK], makeStep(SINK, FIRST), makeStep(FIRST, SECOND));
  read([], makeStep(SECOND, SINK));
  read([]);
  subscriber.close();
  read([BLOCK], makeStep(SINK, FIRST));
  expect(writes.map((messages) => messages.map(({ event, id }) => [event, id]))).toEqual([
    [['heartbeat', SINK]],
    [
      ['block', undefined],
      ['block', undefined],
      ['chain', FIRST],
      ['chain', SECOND],
    ],
    [['chain', SINK]],
  ]);
});

test('it catches up if the follower has not kept all steps from its cursor', () => {
  const { subscriber, read, writes, catchUps } = subscribe(() => 0);
  expect(catchUps()).toBe(0);
  read([BLOCK], makeStep(OTHER, SECOND));
  expect(catchUps()).toBe(1);
  expect(writes.map((messages) => messages.map(({ event }) => event))).toEqual([['heartbeat'], ['block']]);
  subscriber.close();
});

test('a step that was read for an earlier subscription is read again', async () => {
  const reads: ((step: Step) => void)[] = [];
  const readStep = (): Promise<Step> => new Promise((resolve) => reads.push(resolve));
  const { subscriber, read, sent } = subscribe(() => 0, undefined, readStep);
  read([], makeStep(OTHER, SECOND));
  subscriber.subscribe({ ...NO_SUBSCRIPTION, events: new Set(['block']) });
  reads[0]?.(makeStep(SINK, FIRST));
  await vi.waitFor(() => expect(reads).toHaveLength(2));
  expect(subscriber.cursor).toBe(SINK);
  reads[1]?.(makeStep(SINK, FIRST));
  await vi.waitFor(() => expect(subscriber.cursor).toBe(FIRST));
  expect(sent.map(({ event, id }) => [event, id])).toEqual([
    ['heartbeat', SINK],
    ['chain', FIRST],
  ]);
  subscriber.close();
});

test('steps that the follower has not read for it are read apart, at most once a second', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { subscriber, read, catchUps } = subscribe(() => 0);
  for (let step = 0; step < 30; step += 1) {
    // It is not the one after the cursor.
    read([], makeStep(OTHER, SECOND));
    vi.advanceTimersByTime(100);
  }
  expect(catchUps()).toBeLessThanOrEqual(4);
  expect(catchUps()).toBeGreaterThan(0);
  subscriber.close();
});

test('a block that has become unknown ends the stream with a failure that a retry may solve', async () => {
  const { subscriber, sent, closed, read, lines } = subscribe(
    () => 0,
    undefined,
    async () => {
      throw notFound('The block is unknown');
    },
  );
  read([], makeStep(OTHER, SECOND));
  await vi.waitFor(() => expect(closed).toEqual(['error']));
  expect(JSON.parse(sent.at(-1)?.data ?? '')).toMatchObject({ statusCode: 503 });
  expect(lines).toEqual([]);
  subscriber.close();
});

test('it logs an unexpected error, and closes the connection with the id of the request only', () => {
  const { subscriber, sent, closed, lines } = subscribe(() => 0);
  subscriber.fail(new Error('a bug'));
  const message = `Internal server error (request ${REQUEST_ID})`;
  expect(sent.at(-1)).toEqual({ event: 'error', data: JSON.stringify({ statusCode: 500, message }) });
  expect(closed).toEqual(['error']);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'error', err: { message: 'a bug' }, requestId: REQUEST_ID },
  ]);
  subscriber.close();
});
