import { expect, test } from 'vitest';
import { SinkLatencies } from '../../bench/sink-latencies.ts';

test('a response shows its sink and those before', () => {
  const latencies = new SinkLatencies();
  latencies.notified('a', 100);
  latencies.notified('b', 110);
  latencies.notified('c', 120);
  latencies.shown('b', 130);
  expect(latencies.times).toEqual([30, 20]);
  expect(latencies.pending).toBe(1);
  latencies.shown('b', 140);
  latencies.shown('a', 150);
  latencies.shown('c', 160);
  expect(latencies.times).toEqual([30, 20, 40]);
  expect(latencies.pending).toBe(0);
});

test('a response may be earlier than the notification', () => {
  const latencies = new SinkLatencies();
  latencies.notified('a', 100);
  latencies.shown('b', 105);
  latencies.shown('b', 115);
  expect(latencies.pending).toBe(1);
  latencies.notified('b', 120);
  expect(latencies.times).toEqual([5, 0]);
});

test('a sink that returns in a reorg counts again', () => {
  const latencies = new SinkLatencies();
  for (const [at, sink] of ['a', 'b', 'a'].entries()) latencies.notified(sink, at * 10);
  latencies.shown('b', 15);
  latencies.shown('a', 26);
  expect(latencies.times).toEqual([15, 5, 6]);
});

test('the last counted sink may be skipped by a response', () => {
  const latencies = new SinkLatencies();
  latencies.notified('a', 0);
  latencies.stopCounting();
  latencies.notified('b', 10);
  expect(latencies.pending).toBe(1);
  latencies.shown('b', 20);
  expect(latencies.times).toEqual([20]);
  expect(latencies.pending).toBe(0);
});
