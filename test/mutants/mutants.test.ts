import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plant, REPOSITORY } from './mutant.ts';
import { MUTANTS } from './mutants.ts';

test.each(MUTANTS)('the mutant $name applies, and its tests exist', (mutant) => {
  expect(plant(mutant, REPOSITORY)).toContain(mutant.replace);
  expect(mutant.find).not.toBe(mutant.replace);
  expect(mutant.tests.filter((file) => !existsSync(join(REPOSITORY, file)))).toEqual([]);
  expect(mutant.tests.length).toBeGreaterThan(0);
});

test('there are at least 40, each with a unique name', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(40);
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});
