import { expect, test } from 'vitest';
import { HourlyDeltas, hourOf } from './hourly-balance-changes.ts';

const HOUR_MS = 3_600_000n;

function delta(script: number, hour: bigint, change: bigint) {
  const chainBlock = { index: 1, chainTime: hour * HOUR_MS, blocks: 1, redBlocks: 0, work: 1n };
  const amounts = change < 0n ? { sent: -change, received: 0n } : { sent: 0n, received: change };
  return { chainBlock, deltas: new Map([[script, { ...amounts, utxoCount: 1 }]]) };
}

test('it begins an hour with its first millisecond', () => {
  expect([0n, 3_599_999n, 3_600_000n, 1_750_000_000_000n].map(hourOf)).toEqual([0, 0, 1, 486_111]);
});

test('it nets a transaction that is reverted and accepted again in the same hour to zero', () => {
  const changes = new HourlyDeltas();
  changes.add(delta(7, 100n, 50n), -1);
  changes.add(delta(7, 100n, 50n), 1);
  expect(changes.rows()).toEqual([]);
});

test('it moves a transaction that is accepted again in another hour', () => {
  const changes = new HourlyDeltas();
  changes.add(delta(7, 100n, 50n), -1);
  changes.add(delta(7, 101n, 50n), 1);
  changes.add(delta(6, 101n, -8n), 1);
  expect(changes.rows()).toEqual([
    { script: 6, hour: 101, change: -8n },
    { script: 7, hour: 100, change: -50n },
    { script: 7, hour: 101, change: 50n },
  ]);
});
