/**
 * A file that one person can hold in mind has at most 400 lines. Tests and generated files may be
 * longer.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const REPOSITORY = join(import.meta.dirname, '../..');
const MAX_LINES = 400;

test('it has no source file of more than 400 lines', () => {
  const listed = execFileSync('git', ['ls-files', '--', 'packages', 'bench', 'test', 'release'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\/generated\//.test(file));
  expect(files.length).toBeGreaterThan(500);
  const long = files.filter((file) => readFileSync(join(REPOSITORY, file), 'utf8').split('\n').length - 1 > MAX_LINES);
  expect(long).toEqual([]);
});
