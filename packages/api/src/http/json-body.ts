/**
 * Reads and parses JSON bodies within limits. JSON.parse takes up to a quarter of a second for a
 * hostile body of 1 MiB (deep nesting, or 100,000 different names), so the text is scanned first,
 * which takes milliseconds.
 */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { afterOtherLargeBodies, HttpError, LARGE_CHARACTERS, pause } from '@kasgres/reads';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { markExactIntegers } from './exact-integers.ts';
import { callerOf } from './request-identity.ts';
import { validateWithPauses } from './validation.ts';

export const MAX_BODY_BYTES = 2 ** 20;

/** The deepest valid body is a block in the form of getBlock, with 10 levels. */
const MAX_DEPTH = 32;

/**
 * Counts members of objects and arrays, and these themselves. The longest lists have 1,000 items.
 */
const MAX_VALUES = 2048;

/**
 * Values of a block, the largest valid body. By transient mass (rpc/submitted/values.ts) it has at
 * most 4,805 inputs of up to 10 values each, or 9,800 outputs of 6 values in 1 MiB of JSON, or
 * 1,713 transactions with one input and one output, of 30 values.
 */
export const MAX_BLOCK_VALUES = 2 ** 16;

/**
 * Different member names: the largest schema, that of a block, has 40. Each new name costs
 * JSON.parse a microsecond.
 */
const MAX_NAMES = 256;
/** A longer text would stay in memory until the response is sent. */
const MAX_TAG_CHARACTERS = 1024;

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Stands for the body in entity tags: the text itself if it is short, else its digest; empty
     * without a body.
     */
    bodyTag: string;
  }
}

export interface BodyOptions {
  /** Keeps all digits of whole numbers beyond 2^53 (exact-integers.ts). */
  exactIntegers?: boolean;
  maxValues?: number;
}

/**
 * Large bodies are also validated here, since Fastify's own validation cannot change values
 * asynchronously.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  app.decorateRequest('bodyTag', '');
  // With a chunked body, only its end shows that it is empty.
  app.addContentTypeParser('*', async (_request: FastifyRequest, payload: IncomingMessage) => {
    if ((await readBody(payload, 0)) !== '') throw new HttpError(415, 'The body must be application/json');
  });
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { body: schema, bodyOptions } = request.routeOptions.config.operation ?? {};
    const text = await readBody(payload, Number(request.headers['content-length'] ?? 0));
    if (text === '') return undefined;
    request.bodyTag = text.length <= MAX_TAG_CHARACTERS ? text : hash('sha256', text, 'base64url');
    if (text.length <= LARGE_CHARACTERS || schema === undefined) return parseJson(text, bodyOptions);
    return await afterOtherLargeBodies(callerOf(request), async () => {
      const body = parseJson(text, bodyOptions);
      await pause();
      return await validateWithPauses(schema, body);
    });
  });
}

/**
 * Makes a request without a body one without a content type and encoding: clients and proxies may
 * send these headers with every request, and the form type for an empty body.
 */
export function ignoreHeadersOfNoBody(headers: IncomingHttpHeaders): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  if (encoding !== undefined || length !== '0') return;
  delete headers['content-type'];
  delete headers['content-encoding'];
}

/**
 * Copies chunks into one buffer as they arrive: kept one by one, chunks of one byte would take
 * three hundred times the size of the body.
 */
async function readBody(payload: IncomingMessage, announcedBytes: number): Promise<string> {
  if (announcedBytes > MAX_BODY_BYTES) throw tooLarge();
  // The client disconnected before its turn: a destroyed stream emits nothing any longer.
  if (payload.destroyed) throw incomplete();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let body = Buffer.alloc(0);
  let length = 0;
  const onData = (chunk: Buffer): void => {
    if (length + chunk.length > MAX_BODY_BYTES) {
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
  const onError = (cause: Error): void => reject(incomplete(cause));
  payload.on('data', onData).on('end', resolve).on('error', onError);
  try {
    await promise;
  } finally {
    payload.off('data', onData).off('end', resolve).off('error', onError);
  }
  return body.toString('utf8', 0, length);
}

const incomplete = (cause?: Error): HttpError => new HttpError(400, 'The request body is incomplete', { cause });

const tooLarge = (): HttpError => new HttpError(413, 'The body is larger than 1 MiB');

/**
 * @throws HttpError 400 if the text is not JSON, nests too deeply, or has too many values or names
 */
export function parseJson(sent: string, { exactIntegers = false, maxValues = MAX_VALUES }: BodyOptions = {}): unknown {
  const text = sent.startsWith(BYTE_ORDER_MARK) ? sent.slice(1) : sent;
  checkShape(text, maxValues);
  try {
    return JSON.parse(exactIntegers ? markExactIntegers(text) : text);
  } catch (cause) {
    throw malformed(NOT_JSON, cause);
  }
}

/** Some editors and shells begin a file with it. RFC 8259 §8.1 allows parsers to ignore it. */
const BYTE_ORDER_MARK = '\uFEFF';

const NOT_JSON = 'is not valid JSON';

const malformed = (message: string, cause?: unknown): HttpError =>
  new HttpError(400, 'The request is malformed', { details: [{ path: '', message }], cause });

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * Matches a string, its end, and a colon after it. It cannot fail, even if the string does not end,
 * so the time is linear.
 */
const STRING = /"((?:[^"\\]+|\\[^])*)("?)(\s*:)?/y;

/**
 * Leaves other syntax errors to JSON.parse.
 * @throws HttpError 400 if the text nests too deeply, has too many values or names, or a string
 * that does not end
 */
function checkShape(text: string, maxValues: number): void {
  const names = new Set<string>();
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      STRING.lastIndex = index;
      const [, content = '', end, colon] = STRING.exec(text) ?? [];
      if (end !== '"') throw malformed(NOT_JSON);
      if (colon !== undefined) names.add(content);
      if (names.size > MAX_NAMES) throw malformed(`has more than ${MAX_NAMES} different field names`);
      index = STRING.lastIndex - 1;
    } else if (code === COMMA) {
      values += 1;
    } else if (OPENING.has(code)) {
      depth += 1;
      values += 1;
      if (depth > MAX_DEPTH) throw malformed(`has more than ${MAX_DEPTH} levels`);
    } else if (CLOSING.has(code)) {
      depth -= 1;
    }
    if (values > maxValues) throw malformed(`has more than ${maxValues} values`);
  }
}
