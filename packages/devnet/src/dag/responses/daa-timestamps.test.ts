import { getNetwork } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { SmallDag } from '../testing/small-dag.ts';
import { timestampsOfDaaScores } from './daa-timestamps.ts';

test('interpolates times between samples, and assumes the target time per block above the sink', () => {
  const small = new SmallDag();
  let last = 'genesis';
  // Samples: genesis (0), 3, 6, 9 and the sink (10); what lies between runs at another pace.
  const times = [0n, 1n, 2n, 30n, 31n, 32n, 60n, 61n, 62n, 90n, 100n];
  for (let place = 1; place <= 10; place++) {
    small.add(`a${place}`, { parents: [last], timestamp: 1_000_000n + (times[place] ?? 0n) });
    last = `a${place}`;
  }
  small.setVirtual([last]);
  const asked = [10n, 0n, 3n, 4n, 8n, 12n, 4n];
  const expected = [100n, 0n, 30n, 40n, 80n, 300n, 40n].map((offset) => 1_000_000n + offset);
  expect(timestampsOfDaaScores(small.dag, getNetwork('simnet'), asked)).toEqual(expected);
});

test('mainnet has known points before its genesis', () => {
  const small = new SmallDag();
  const [first] = timestampsOfDaaScores(small.dag, getNetwork('mainnet'), [87_133n]);
  expect(first).toBe(1_636_386_662_010n);
});
