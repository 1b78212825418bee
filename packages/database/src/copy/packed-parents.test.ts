import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packParents, unpackParents } from './packed-parents.ts';

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('parent levels survive a round trip through packing', () => {
  const run = fc.tuple(fc.array(hash, { maxLength: 4 }), fc.integer({ min: 1, max: 300 }));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 5 }), (runs) => {
      const levels = runs.flatMap(([parents, count]) => Array.from({ length: count }, () => parents));
      expect(unpackParents(packParents(levels)).map((level) => level.map((h) => [...h]))).toEqual(
        levels.map((level) => level.map((h) => [...h])),
      );
    }),
    { numRuns: 30 },
  );
});

test('levels with equal parents are stored once', () => {
  const parents = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  expect(packParents(Array.from({ length: 250 }, () => parents)).length).toBe(4 + 64);
});
