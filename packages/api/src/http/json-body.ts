/**
 * Reads and parses JSON bodies within limits. JSON.parse takes up to a quarter of a second for a hostile body of 1 MiB (deep nests, or
 * 100,000 different keys), so the text is looked through before, which takes some milliseconds.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from './caller.ts';
import { HttpError } from './errors.ts';
import { markExactIntegers } from './exact-integers.ts';
import { findEndOfString, QUOTE } from './json-text.ts';
import { afterOtherLargeBodies, isLargeText, markLarge } from './large-bodies.ts';

export const MAX_BODY_BYTES = 2 ** 20;

/** The deepest body that the API takes is a block as getBlock shows it, with 10 levels. */
const MAX_DEPTH = 32;

/** Values of a body: members of objects and arrays, and these themselves. The longest lists have 1,000 items. */
const MAX_VALUES = 2048;

/**
 * Values of a block, the largest body that the API takes. By transient mass (submitted/limits.ts) it has at most 4,805 inputs of up to 10
 * values each, or 9,800 outputs of 6 values in 1 MiB of JSON, or 1,713 transactions with one input and one output, of 30 values.
 */
export const MAX_BLOCK_VALUES = 2 ** 16;

/**
 * Different names of fields: the largest schema, that of a block, has 40. JSON.parse takes a microsecond for each name that it has not seen
 * yet, and the schema as long to refuse it.
 */
const MAX_NAMES = 256;

/** For the routes of this instance. With `exactIntegers` a whole number beyond 2^53 keeps its digits (exact-integers.ts). */
export function parseJsonBodies(app: FastifyInstance, { exactIntegers = false, maxValues = MAX_VALUES } = {}): void {
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const text = await readBody(payload, Number(request.headers['content-length'] ?? 0));
    if (!isLargeText(text)) return parse(text, exactIntegers, maxValues);
    return await afterOtherLargeBodies(callerOf(request), () => {
      const body = parse(text, exactIntegers, maxValues);
      markLarge(body);
      return body;
    });
  });
}

/**
 * Returns the text of a body. The pieces it comes in are put together as they come: kept one by one, a body sent in chunks of one
 * byte would take three hundred times its size.
 */
function readBody(payload: IncomingMessage, announcedBytes: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  if (announcedBytes > MAX_BODY_BYTES) {
    reject(tooLarge());
    return promise;
  }
  let body = Buffer.alloc(0);
  let length = 0;

  const settle = (): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onError);
  };
  const onData = (chunk: Buffer): void => {
    if (length + chunk.length > MAX_BODY_BYTES) {
      settle();
      reject(tooLarge());
      return;
    }
    if (length + chunk.length > body.length) {
      const larger = Buffer.allocUnsafe(Math.max(length + chunk.length, 2 * body.length, announcedBytes));
      body.copy(larger, 0, 0, length);
      body = larger;
    }
    chunk.copy(body, length);
    length += chunk.length;
  };
  const onEnd = (): void => {
    settle();
    resolve(body.toString('utf8', 0, length));
  };
  // The client is gone: nobody reads the response.
  const onError = (error: Error): void => {
    settle();
    reject(new HttpError(400, 'The body did not arrive', { cause: error }));
  };
  payload.on('data', onData).on('end', onEnd).on('error', onError);
  return promise;
}

const tooLarge = (): HttpError => new HttpError(413, 'The body is larger than 1 MiB');

function parse(text: string, exactIntegers: boolean, maxValues: number): unknown {
  checkShape(text, maxValues);
  try {
    return JSON.parse(exactIntegers ? markExactIntegers(text) : text);
  } catch (cause) {
    throw malformed(NOT_JSON, cause);
  }
}

const NOT_JSON = 'is not valid JSON';

const malformed = (message: string, cause?: unknown): HttpError =>
  new HttpError(400, 'The request is malformed', { details: [{ path: '', message }], cause });

const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const SPACES = new Set([0x20, 0x0a, 0x0d, 0x09]);

/**
 * Leaves it to JSON.parse whether the text is JSON at all.
 * @throws HttpError 400 if the text nests too deeply, has too many values or names, or a string that does not end
 */
function checkShape(text: string, maxValues: number): void {
  const names = new Set<string>();
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const end = findEndOfString(text, index);
      if (end === -1) throw malformed(NOT_JSON);
      if (isName(text, end)) names.add(text.slice(index + 1, end));
      if (names.size > MAX_NAMES) throw malformed(`has more than ${MAX_NAMES} different names of fields`);
      index = end;
    } else if (code === COMMA) {
      values += 1;
    } else if (OPENING.has(code)) {
      depth += 1;
      values += 1;
      if (depth > MAX_DEPTH) throw malformed(`is nested more than ${MAX_DEPTH} deep`);
    } else if (CLOSING.has(code)) {
      depth -= 1;
    }
    if (values > maxValues) throw malformed(`has more than ${maxValues} values`);
  }
}

/** A string before a colon. */
function isName(text: string, end: number): boolean {
  let next = end + 1;
  while (SPACES.has(text.charCodeAt(next))) next += 1;
  return text.charCodeAt(next) === COLON;
}
