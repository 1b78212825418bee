import { expect, test } from 'vitest';
import { z } from 'zod';
import type { HttpError } from './errors.ts';
import { validatorCompiler } from './validation.ts';

const schema = z.strictObject({
  transactionIds: z.array(z.string().regex(/^[0-9a-f]+$/, 'must be hex')).max(3),
  includeBlocks: z.boolean().default(false),
});

const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' });
const detailsOf = (data: unknown) => (validate(data) as { error: HttpError }).error.details;

test('passes on what the schema makes of the data', () => {
  expect(validate({ transactionIds: ['ab'] })).toEqual({ value: { transactionIds: ['ab'], includeBlocks: false } });
});

test('names every wrong field by its path', () => {
  expect(detailsOf({ transactionIds: ['ab', 'zz', 5], includeBlocks: 'yes' })).toEqual([
    { path: 'transactionIds.1', message: 'must be hex' },
    { path: 'transactionIds.2', message: expect.stringContaining('expected string') },
    { path: 'includeBlocks', message: expect.stringContaining('expected boolean') },
  ]);
});

test('names unknown fields one by one, and missing ones', () => {
  expect(detailsOf({ limit: 1, offset: 2 })).toEqual([
    { path: 'transactionIds', message: 'is required' },
    { path: 'limit', message: 'is not a known field' },
    { path: 'offset', message: 'is not a known field' },
  ]);
});

test('a body that is no object has the empty path', () => {
  expect(detailsOf([])).toEqual([{ path: '', message: expect.stringContaining('expected object') }]);
  expect(detailsOf(undefined)).toEqual([{ path: '', message: 'is required' }]);
});
