import { expect, test } from 'vitest';
import type { ApiStatus } from '../api-status.ts';
import { progressLine, Reminder } from './progress.ts';

const status: ApiStatus = {
  network: 'testnet-10',
  synced: false,
  sink: null,
  sinkBlueScore: '250000',
  nodeSinkBlueScore: '1000000',
  nodeSynced: true,
  starts: [{ blueScore: '0' }],
  utxoSetLoad: null,
};

test('it prints progress, rate and remaining time', () => {
  expect(progressLine(status, 2_500)).toBe(
    'Catching up: 250,000 of 1,000,000 blocks (25.0 %), 2,500 blocks/s, about 5 min left.',
  );
});

test('it prints no rate before one is known', () => {
  expect(progressLine({ ...status, sinkBlueScore: null }, 0)).toBe('Catching up: 0 of 1,000,000 blocks (0.0 %).');
});

test('it reports a node that does not respond', () => {
  expect(progressLine({ ...status, nodeSinkBlueScore: null }, 0)).toBe('Waiting for the node to respond.');
});

test('it prints a new reason at once, and the same one after growing pauses', () => {
  let now = 0;
  const reminder = new Reminder(() => now);
  const said: number[] = [];
  for (; now < 600_000; now += 5_000) if (reminder.admit('refused')) said.push(now);
  expect(said).toEqual([0, 30_000, 90_000, 210_000, 450_000]);
  expect(reminder.admit('timeout')).toBe(true);
  expect(reminder.admit('timeout')).toBe(false);
});

test('it counts blocks from the bootstrap block', () => {
  const starts = [{ blueScore: '0' }, { blueScore: '200000' }];
  expect(progressLine({ ...status, starts }, 0)).toBe('Catching up: 50,000 of 800,000 blocks (6.2 %).');
});

test('it prints the progress of loading a UTXO set', () => {
  expect(progressLine({ ...status, starts: [], utxoSetLoad: { utxoCount: 1_250_000 } }, 0)).toBe(
    "Loading the UTXO set of the node's pruning point: 1,250,000 UTXOs.",
  );
});
