/**
 * Sets the headers that name the state of the index (`x-kasgres-sink`, `x-kasgres-gaps`) and a weak entity tag. A client that sends the
 * current tag gets a 304.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../http/request-identity.ts';
import type { IndexReader, IndexState, Reading } from './state.ts';

const ANY_ETAG = '*';

type Respond = <T>(
  index: IndexReader,
  request: FastifyRequest,
  reply: FastifyReply,
  read: (reading: Reading) => Promise<T>,
) => Promise<T | undefined>;

/** Responds with a tag of the state, so that an unchanged response costs no further query. Resolves to undefined for a 304. */
export const respondFromState: Respond = (index, request, reply, read) =>
  index.read(async (reading) => {
    const { sinkHash, virtualMergeSet, firstCatchUp, starts } = reading.state;
    const content = [sinkHash, virtualMergeSet, firstCatchUp, starts].join();
    if (request.headers['if-none-match']?.trim() === ANY_ETAG) {
      // `*` matches only a resource that exists (RFC 9110 §13.1.2): `read` throws the 404 if it does not.
      await read(reading);
      return void isUnchanged(request, reply, reading.state, content);
    }
    return isUnchanged(request, reply, reading.state, content) ? undefined : await read(reading);
  }, callerOf(request));

/**
 * Responds with a tag of the response itself, for content that changes without the chain (tags) or stays the same while the chain grows (an
 * old block). A 304 then saves the transfer, but not the queries.
 */
export const respondByContent: Respond = (index, request, reply, read) =>
  index.read(async (reading) => {
    const response = await read(reading);
    return isUnchanged(request, reply, reading.state, JSON.stringify(response)) ? undefined : response;
  }, callerOf(request));

function isUnchanged(
  request: FastifyRequest,
  reply: FastifyReply,
  { sinkHash, gaps }: IndexState,
  content: string,
): boolean {
  const etag = etagOf(request, content);
  reply.header('x-kasgres-sink', sinkHash);
  if (gaps > 0) reply.header('x-kasgres-gaps', String(gaps));
  reply.header('etag', etag);
  const unchanged = hasEtag(request.headers['if-none-match'], etag);
  // The status is always set, since a first attempt on another state may have set it already (state.ts).
  reply.code(unchanged ? 304 : 200);
  return unchanged;
}

/** The tag covers the request body, since one URL with different bodies has different responses. */
function etagOf(request: FastifyRequest, content: string): string {
  const body = JSON.stringify(request.body, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  const digest = createHash('sha256').update([request.url, body, content].join('\n')).digest('base64url');
  return `W/"${digest.slice(0, 22)}"`;
}

/** Compares weakly with an `if-none-match` list (RFC 9110 §13.1.2). */
export function hasEtag(list: string | undefined, etag: string): boolean {
  const opaque = etag.replace('W/', '');
  return (list ?? '').split(',').some((entry) => [ANY_ETAG, opaque].includes(entry.trim().replace(/^W\//, '')));
}
