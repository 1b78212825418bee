import { NodeProtocolError, NodeRpcError, NodeUnavailableError } from '@kasgres/node';
import { notFound } from '@kasgres/reads';
import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { toHttpError } from './to-http-error.ts';

const REFUSALS: [string, number][] = [
  [`Transaction ${'ab'.repeat(32)} not found`, 404],
  [`cannot find header ${'ab'.repeat(32)}`, 404],
  ['consensus is currently in a transitional ibd state', 503],
  ['Coinbase payload is above max length (204). Try to shorten the extra data.', 400],
];

describe('errors of the node', () => {
  it.each(REFUSALS)('turns "%s" into a %i with its message', (message, statusCode) => {
    const error = toHttpError(new NodeRpcError('getMempoolEntry', message));
    expect(error?.statusCode).toBe(statusCode);
    expect(error?.message).toContain(message);
  });
});

it('turns outages into a 503 that names the dependency, with retry-after', () => {
  expect(toHttpError(new NodeUnavailableError('connect ECONNREFUSED'))).toMatchObject({
    statusCode: 503,
    message: 'The node is out of reach',
    retryAfterSeconds: 2,
  });
  expect(toHttpError(new NodeProtocolError('no such field'))).toMatchObject({ statusCode: 503 });
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
  expect(toHttpError(refused)).toMatchObject({ statusCode: 503, message: 'The database is out of reach' });
  const cancelled = Object.assign(new DatabaseError('canceling statement due to statement timeout', 0, 'error'), {
    code: '57014',
  });
  expect(toHttpError(cancelled)).toMatchObject({ statusCode: 503, message: 'The database took too long' });
});

it('passes HttpErrors on, and returns undefined for bugs', () => {
  const error = notFound('Unknown block');
  expect(toHttpError(error)).toBe(error);
  expect(toHttpError(new TypeError('x is not a function'))).toBeUndefined();
  expect(toHttpError('thrown text')).toBeUndefined();
});
