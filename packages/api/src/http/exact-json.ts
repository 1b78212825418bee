/**
 * Bodies whose numbers keep all their digits: a block template has 64-bit numbers (sequence, lock time), and they come back with the
 * block. An integer beyond 2^53 arrives as a bigint.
 */
import type { FastifyInstance } from 'fastify';
import { HttpError } from './errors.ts';

/** For the routes of this instance. */
export function keepDigits(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text: string, done) => {
    // Fastify's own parser comes first: it refuses what is malformed, and prototypes.
    void parse(request, text, (error, value) => {
      if (error !== null || !LONG_NUMBER.test(text)) done(error, value);
      else readAgain(text, done);
    });
  });
}

/** A number of so many digits that some may be lost; never part of a text, but for one that looks like JSON. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;

function readAgain(text: string, done: (error: Error | null, value?: unknown) => void): void {
  try {
    done(null, JSON.parse(text, readExactly));
  } catch (cause) {
    // Unlike the first reading, one with a reviver has an end to how deeply it follows arrays.
    if (!(cause instanceof RangeError)) throw cause;
    done(
      new HttpError(400, 'The request is malformed', {
        details: [{ path: '', message: 'is nested too deeply' }],
        cause,
      }),
    );
  }
}

function readExactly(_key: string, value: unknown, context?: { source: string }): unknown {
  const source = context?.source ?? '';
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
}
