/**
 * Sets the headers that name the state of the index (`x-kasgres-sink`, `x-kasgres-gaps`) and a weak
 * entity tag. A client that sends the current tag gets a 304.
 */
import { createHash, hash } from 'node:crypto';
import { type Awaitable, HttpError, type IndexReader, type IndexState, whenKnown } from '@kasgres/reads';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { stringifyExact } from './exact-integers.ts';

const ANY_ETAG = '*';
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

/** The content of a response. A Buffer has JSON. */
export interface Content {
  state: IndexState;
  body: unknown;
}

/**
 * A tag of the response itself is for content that changes without the chain (tags, inscriptions),
 * or stays the same while the chain grows (an old block).
 */
export type TagOf = 'state' | 'content';

/**
 * Reads a response, or resolves to undefined after setting the status 304. A tag of the state needs
 * no read for an unchanged response.
 */
export async function respond(
  index: IndexReader,
  request: FastifyRequest,
  reply: FastifyReply,
  tagOf: TagOf,
  read: () => Promise<Content>,
): Promise<unknown> {
  const known = request.headers['if-none-match'];
  // `*` matches only a resource that exists (RFC 9110 §13.1.2): `read` throws the 404 if it does
  // not.
  if (tagOf === 'state' && known !== undefined && known.trim() !== ANY_ETAG) {
    const state = await index.getState();
    if (setHeaders(request, reply, headersOf(state, etagOf(request, ofState(state))))) return undefined;
  }
  const { state, body } = await read();
  const content = tagOf === 'state' ? ofState(state) : Buffer.isBuffer(body) ? body : stringifyExact(body);
  if (setHeaders(request, reply, headersOf(state, etagOf(request, content)))) return undefined;
  if (Buffer.isBuffer(body)) reply.type(JSON_TYPE);
  return body;
}

/**
 * Sets the headers of a response that is read piece by piece, from the present state on. Returns
 * whether the client has this response already.
 * @param type distinguishes it from other responses of the same URL
 */
export async function beginResponse(
  index: IndexReader,
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
): Promise<boolean> {
  const state = await index.getState();
  return setHeaders(request, reply, headersOf(state, etagOf(request, `${type}\n${ofState(state)}`)));
}

/**
 * Adds the headers that name the state in which an error was found, such as an unknown transaction.
 */
export function withState(error: unknown, state: IndexState): unknown {
  if (error instanceof HttpError) Object.assign(error.headers, headersOfState(state));
  return error;
}

/** Reads the body of a response from a state, which errors name, too. */
export async function contentFrom(state: IndexState, read: () => Awaitable<unknown>): Promise<Content> {
  try {
    return { state, body: await read() };
  } catch (error) {
    throw withState(error, state);
  }
}

const headersOfState = ({ sinkHash, gaps }: IndexState): Record<string, string> => ({
  'x-kasgres-sink': sinkHash,
  ...(gaps > 0 && { 'x-kasgres-gaps': String(gaps) }),
});

interface Headers {
  [name: string]: string;
  etag: string;
}

const headersOf = (state: IndexState, etag: string): Headers => ({ ...headersOfState(state), etag });

/** A response that needs only the state. */
export interface StateResponse {
  state: IndexState;
  url: string;
  headers: Headers;
  type: string;
  body: string;
}

/**
 * Makes the responses of one route without parameters and body. It keeps the last one, since most
 * requests come between two changes of the state.
 */
export class StateResponses {
  readonly #toResponse: (state: IndexState) => unknown;
  readonly #isText: boolean;
  #last: StateResponse | undefined;

  /** @param isText whether the response is text, which is sent as it is */
  constructor(toResponse: (state: IndexState) => unknown, isText: boolean) {
    this.#toResponse = toResponse;
    this.#isText = isText;
  }

  get(state: IndexState, url: string): StateResponse {
    if (this.#last?.state === state && this.#last.url === url) return this.#last;
    const response = this.#toResponse(state);
    this.#last = {
      state,
      url,
      headers: headersOf(state, etagOf({ url, bodyTag: '' }, ofState(state))),
      ...(this.#isText
        ? { type: TEXT_TYPE, body: String(response) }
        : { type: JSON_TYPE, body: JSON.stringify(response) }),
    };
    return this.#last;
  }

  /** Returns undefined after setting the status 304. */
  respond(index: IndexReader, request: FastifyRequest, reply: FastifyReply): Awaitable<string | undefined> {
    return whenKnown(index.getState(), (state) => {
      const { headers, type, body } = this.get(state, request.url);
      if (setHeaders(request, reply, headers)) return undefined;
      reply.type(type);
      return body;
    });
  }
}

/** By state: the part of an entity tag that all responses from that state have in common. */
const commonOf = new WeakMap<IndexState, string>();

function ofState(state: IndexState): string {
  const known = commonOf.get(state);
  if (known !== undefined) return known;
  const { sinkHash, virtualMergeSet, firstCatchUp, bootstrapBlocks, firstBlock } = state;
  // A cut of RETENTION changes the first block alone.
  const common = String([sinkHash, virtualMergeSet, firstCatchUp, bootstrapBlocks, firstBlock]);
  commonOf.set(state, common);
  return common;
}

/** Returns whether the client has this response already. */
function setHeaders(request: FastifyRequest, reply: FastifyReply, headers: Headers): boolean {
  const isUnchanged = hasEtag(request.headers['if-none-match'], headers.etag);
  reply.headers(headers);
  if (isUnchanged) reply.code(304);
  return isUnchanged;
}

/** The tag covers the request body, since one URL with different bodies has different responses. */
function etagOf({ url, bodyTag }: Pick<FastifyRequest, 'url' | 'bodyTag'>, content: string | Buffer): string {
  const asked = `${url}\n${bodyTag}\n`;
  const digest =
    typeof content === 'string'
      ? hash('sha256', asked + content, 'base64url')
      : createHash('sha256').update(asked).update(content).digest('base64url');
  return `W/"${digest.slice(0, 22)}"`;
}

/**
 * Suffixes that compressing intermediaries append to a tag: `-gzip` (Apache), `--gzip` (Jetty),
 * `;gzip`, `-br`.
 */
const ENCODING_SUFFIX = /^(?:--?|;)(?:gzip|br|zstd|deflate)$/;

/**
 * Compares weakly with an `if-none-match` list (RFC 9110 §13.1.2), and ignores a suffix of an
 * encoding, which has the same content.
 */
export function hasEtag(list: string | undefined, etag: string): boolean {
  if (list === undefined) return false;
  const opaque = opaqueOf(etag);
  return list.split(',').some((entry) => {
    if (entry.trim() === ANY_ETAG) return true;
    const known = opaqueOf(entry.trim());
    return known.startsWith(opaque) && (known === opaque || ENCODING_SUFFIX.test(known.slice(opaque.length)));
  });
}

const opaqueOf = (etag: string): string => etag.replace(/^W\//i, '').replace(/^"|"$/g, '');
