import { expect, test } from 'vitest';
import { Positions } from './metrics.ts';

test('it has no lags at first', () => {
  const positions = new Positions();
  expect(positions.lagBlocks()).toBeNaN();
  expect(positions.lagSeconds(Date.now())).toBeNaN();
});

test('it reports the age of the checkpoint for an index behind the node', () => {
  const positions = new Positions();
  positions.nodeIsAt(120n);
  positions.indexIsAt(100n, 1_000_000n);
  expect(positions.lagBlocks()).toBe(20);
  expect(positions.lagSeconds(1_030_500)).toBe(30.5);
});

test('it reports no lag at the sink, regardless of its age', () => {
  const positions = new Positions();
  positions.nodeIsAt(120n);
  positions.indexIsAt(120n, 1_000_000n);
  expect(positions.lagSeconds(9_000_000)).toBe(0);
  positions.indexIsAt(121n, 1_000_100n);
  expect(positions.lagBlocks()).toBe(0);
});

test('it keeps the age of the checkpoint when an update has no chain block', () => {
  const positions = new Positions();
  positions.nodeIsAt(120n);
  positions.indexIsAt(100n, 1_000_000n);
  positions.indexIsAt(100n, undefined);
  expect(positions.lagSeconds(1_001_000)).toBe(1);
});

test('it knows the lag in blocks before the lag in seconds after a restart', () => {
  const positions = new Positions();
  positions.nodeIsAt(120n);
  positions.indexIsAt(100n, undefined);
  expect(positions.lagBlocks()).toBe(20);
  expect(positions.lagSeconds(1_001_000)).toBeNaN();
});
