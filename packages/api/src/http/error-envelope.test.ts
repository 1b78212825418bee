import { expect, test } from 'vitest';
import { envelopeOf } from './error-envelope.ts';

test.each([
  ['a lone surrogate of the request', '\ud800'],
  ['a character at the end of the first 200', `${'a'.repeat(198)}\u{1f600}${'a'.repeat(9)}`],
  ['a character at the end of the first 1000', `${'a'.repeat(998)}\u{1f600}${'a'.repeat(9)}`],
])('an error with %s is JSON that every parser reads', (_what, text) => {
  const envelope = envelopeOf(400, text, [{ path: text, message: text }]);
  expect(JSON.stringify(envelope)).not.toMatch(/\\ud[89a-f]/);
});
