import { NO_SUBSCRIPTION } from '@kasgres/chain-steps';
import { EventLoopTurns, HttpError, type IndexReader } from '@kasgres/reads';
import { createLogger } from '@kasgres/runtime';
import type { FastifyRequest } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Admission } from '../limits/admission.ts';
import type { MempoolSamples } from '../node/mempool-samples.ts';
import { Streams } from './streams.ts';
import type { Output } from './subscriber.ts';

const SINK = 'ab'.repeat(32);
const never = () => new Promise<never>(() => {});

/**
 * Streams of an index that never responds, and one stream. `closed` lists why its connection was
 * closed.
 */
function openStream(admission: Partial<Record<keyof Admission, unknown>> = {}) {
  const streams = new Streams({
    index: {
      getState: never,
      getSettledState: never,
      read: never,
      readIfAny: never,
      run: never,
    } as unknown as IndexReader,
    turns: new EventLoopTurns(),
    mempool: {} as MempoolSamples,
    admission: admission as unknown as Admission,
    databaseUrl: '',
    logger: createLogger({ name: 'streams under test', level: 'silent' }),
    maxStreams: 10,
  });
  onTestFinished(() => streams.close());
  const closed: string[] = [];
  const output: Output = { send: () => {}, unsentBytes: 0, close: (reason) => void closed.push(reason) };
  const request = { headers: { 'x-api-key': 'a key' }, query: {}, routeOptions: { config: {} } };
  const { subscriber } = streams.open(
    request as unknown as FastifyRequest,
    output,
    { ...NO_SUBSCRIPTION, events: new Set(['chain']) },
    { cursor: SINK, sink: { hash: SINK, blueScore: 5n } },
    streams.takeSlot({ apiKey: { id: 1n, bucket: { name: 'key:1' } } } as unknown as FastifyRequest),
  );
  return { streams, subscriber, closed };
}

test('a stream that failed or ended is not counted, even if its connection never reports that it closed', () => {
  for (const end of [
    ({ subscriber }: ReturnType<typeof openStream>) => subscriber.fail(new HttpError(401, 'refused')),
    ({ streams }: ReturnType<typeof openStream>) => streams.end(),
  ]) {
    const opened = openStream();
    expect([opened.streams.connections, opened.streams.follower.subscribers.size]).toEqual([1, 1]);
    end(opened);
    expect([opened.streams.connections, opened.streams.follower.subscribers.size]).toEqual([0, 0]);
    expect(opened.closed).toHaveLength(1);
  }
});

test('a minute that a key cannot pay now is charged when its window ends, and a spent quota ends the stream', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const verdicts = [{ refusal: 'rate_limit', resetSeconds: 2 }, { charge: {} }, { refusal: 'quota', resetSeconds: 9 }];
  const admit = vi.fn(async () => ({ apiKey: {}, verdict: verdicts.shift() }));
  const { closed } = openStream({ admit, release: () => {} });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(admit).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(admit).toHaveBeenCalledTimes(2);
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(admit).toHaveBeenCalledTimes(3);
  expect(closed).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(admit).toHaveBeenCalledTimes(3);
});
