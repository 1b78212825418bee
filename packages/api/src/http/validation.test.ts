import { type HttpError } from '@kasgres/reads';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { validatorCompiler } from './validation.ts';

const schema = z.strictObject({
  transactionIds: z.array(z.string().regex(/^[0-9a-f]+$/, 'must be hex')).max(3),
  includeBlocks: z.boolean().default(false),
});

const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' });
const detailsOf = (data: unknown) => (validate(data) as { error: HttpError }).error.details;

it('passes on the output of the schema', () => {
  expect(validate({ transactionIds: ['ab'] })).toEqual({ value: { transactionIds: ['ab'], includeBlocks: false } });
});

it('names every invalid field by its path', () => {
  expect(detailsOf({ transactionIds: ['ab', 'zz', 5], includeBlocks: 'yes' })).toEqual([
    { path: 'transactionIds.1', message: 'must be hex' },
    { path: 'transactionIds.2', message: 'Invalid input: expected string, received number' },
    { path: 'includeBlocks', message: 'Invalid input: expected boolean, received string' },
  ]);
});

it('names each unknown and each missing field', () => {
  expect(detailsOf({ limit: 1, offset: 2 })).toEqual([
    { path: 'transactionIds', message: 'is required' },
    { path: 'limit', message: 'is not a known field' },
    { path: 'offset', message: 'is not a known field' },
  ]);
});

it('uses the empty path for a body that is no object', () => {
  expect(detailsOf([])).toEqual([{ path: '', message: 'Invalid input: expected object, received array' }]);
  expect(detailsOf(undefined)).toEqual([{ path: '', message: 'is required' }]);
});

it('reports the errors of the union member that matches the type of the value', () => {
  const eitherForm = z.strictObject({
    script: z.union([z.string().regex(/^[0-9a-f]*$/, 'must be hex'), z.strictObject({ version: z.int() })]),
  });
  const of = (script: unknown) => {
    const result = validatorCompiler({ schema: eitherForm, method: 'POST', url: '/', httpPart: 'body' })({ script });
    return (result as { error: HttpError }).error.details;
  };
  expect(of('zz')).toEqual([{ path: 'script', message: 'must be hex' }]);
  expect(of({})).toEqual([{ path: 'script.version', message: 'is required' }]);
  expect(of({ version: 1, other: 2 })).toEqual([{ path: 'script.other', message: 'is not a known field' }]);
  expect(of(undefined)).toEqual([{ path: 'script', message: 'is required' }]);
  expect(of(7)).toEqual([{ path: 'script', message: 'Invalid input' }]);
});
