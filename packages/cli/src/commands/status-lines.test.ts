import { expect, test } from 'vitest';
import { statusLines } from './status-lines.ts';

const START = {
  hash: 'a1',
  blueScore: '2190',
  daaScore: '2199',
  timestamp: Date.UTC(2026, 10, 20, 12),
  utxoCount: 12_599,
};

test('it prints one name and value per line', () => {
  expect(statusLines({ network: 'simnet', sink: null, synced: true, lagSeconds: 0 })).toBe(
    'network     simnet\nsink        unknown\nsynced      true\nlagSeconds  0',
  );
});

test('it describes bootstrap blocks, gaps and a pending bootstrap block', () => {
  const gap = {
    afterBlock: 'b2',
    beforeBlock: 'c3',
    reason: 'The node had pruned it.',
    afterBlueScore: '3000',
    beforeBlueScore: '4000',
    afterTimestamp: Date.UTC(2026, 10, 21),
    beforeTimestamp: null,
    recordedAt: 0,
  };
  const genesis = { ...START, hash: 'a0', daaScore: '0', utxoCount: 0 };
  const status = {
    starts: [genesis, START],
    gaps: [gap],
    utxoSetLoad: { pruningPoint: 'd4', utxoCount: 1_200_000 },
  };
  expect(statusLines(status).split('\n')).toEqual([
    'bootstrap block          genesis a0 of 2026-11-20T12:00:00.000Z, DAA score 0, with no UTXOs',
    'bootstrap block          a1 of 2026-11-20T12:00:00.000Z, DAA score 2,199, with 12,599 UTXOs',
    'gap                      between block b2 (2026-11-21T00:00:00.000Z, blue score 3,000) and block c3 (blue score 4,000): The node had pruned it.',
    'pending bootstrap block  d4, UTXOs loaded so far: 1,200,000',
  ]);
});

test('it prints that there are no gaps, and nothing about a replica or a pending bootstrap that do not exist', () => {
  expect(statusLines({ replicaLagSeconds: null, starts: [], gaps: [], utxoSetLoad: null })).toBe('gaps  none');
});

test('it prints unknown values unchanged', () => {
  expect(statusLines({ gaps: 3, starts: { some: 'thing' } })).toBe('gaps    3\nstarts  {"some":"thing"}');
});
