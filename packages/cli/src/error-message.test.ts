import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { describeError } from './error-message.ts';

test.each([
  ['25006', 'cannot execute INSERT in a read-only transaction', /name the primary in DATABASE_URL/],
  ['42501', 'permission denied for table tags', /Grant the role what is missing/],
  ['53100', 'could not extend file: No space left on device', /Free some space/],
  ['53200', 'out of shared memory', /raise max_locks_per_transaction/],
  ['53300', 'sorry, too many clients already', /raise max_connections/],
  ['57P01', 'terminating connection due to administrator command', /administrator command\.$/],
])('an error %s of the server is described without a stack', (code, message, advice) => {
  const described = describeError(Object.assign(new DatabaseError(message, 0, 'error'), { code }));
  expect(described).toMatch(advice);
  expect(described.startsWith(`The database cannot be used: ${message}.`)).toBe(true);
  expect(described).not.toContain('\n');
});

test('an error of the program has its stack', () => {
  expect(describeError(new RangeError('wrong'))).toMatch(/^RangeError: wrong\n +at /);
});
