import { expect, test } from 'vitest';
import { Positions } from './positions.ts';

test('both lags are unknown at first', () => {
  const positions = new Positions();
  expect(positions.lagBlocks()).toBeNaN();
  expect(positions.lagSeconds(Date.now())).toBeNaN();
});

test('an index behind the node is as late as its block is old', () => {
  const positions = new Positions();
  positions.nodeIsAt(120n);
  positions.indexIsAt(100n, 1_000_000n);
  expect(positions.lagBlocks()).toBe(20);
  expect(positions.lagSeconds(1_030_500)).toBe(30.5);
});

test('an index at the sink is not behind, however old the sink is', () => {
  const positions = new Positions();
  positions.nodeIsAt(120n);
  positions.indexIsAt(120n, 1_000_000n);
  expect(positions.lagSeconds(9_000_000)).toBe(0);
  positions.indexIsAt(121n, 1_000_100n);
  expect(positions.lagBlocks()).toBe(0);
});

test('an update without a new chain block leaves the age of the checkpoint', () => {
  const positions = new Positions();
  positions.nodeIsAt(120n);
  positions.indexIsAt(100n, 1_000_000n);
  positions.indexIsAt(100n, undefined);
  expect(positions.lagSeconds(1_001_000)).toBe(1);
});

test('after a restart the lag in blocks is known before the lag in seconds', () => {
  const positions = new Positions();
  positions.nodeIsAt(120n);
  positions.indexIsAt(100n, undefined);
  expect(positions.lagBlocks()).toBe(20);
  expect(positions.lagSeconds(1_001_000)).toBeNaN();
});
