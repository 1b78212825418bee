import { FatalError } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { checkFileLimit } from './file-limit.ts';

test('it refuses a limit of open files that is too low for the connections of the indexer', () => {
  expect(() => checkFileLimit(60)).toThrow(FatalError);
  expect(() => checkFileLimit(60)).toThrow(/limit of 60 open files is below the 64/);
  expect(() => checkFileLimit(64)).not.toThrow();
});
