/**
 * Sets the headers that name the state of the index (`x-kasgres-sink`, `x-kasgres-gaps`) and a weak entity tag. A client that sends the
 * current tag gets a 304.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../http/request-identity.ts';
import type { IndexReader, Reading } from './state.ts';

const ANY_ETAG = '*';

/**
 * Reads a response, or resolves to undefined after setting the status 304. A tag of the state costs no further query for an unchanged response. A
 * tag of the response itself is for content that changes without the chain (tags) or stays the same while the chain grows (an old block).
 */
export function respond<T>(
  index: IndexReader,
  request: FastifyRequest,
  reply: FastifyReply,
  tagOf: 'state' | 'content',
  read: (reading: Reading) => Promise<T>,
): Promise<T | undefined> {
  return index.read(async (reading) => {
    const { sinkHash, virtualMergeSet, firstCatchUp, starts, gaps } = reading.state;
    const known = request.headers['if-none-match'];
    // `*` matches only a resource that exists (RFC 9110 §13.1.2): `read` throws the 404 if it does not.
    const isReadFirst = tagOf === 'content' || known?.trim() === ANY_ETAG;
    const response = isReadFirst ? await read(reading) : undefined;
    const content = tagOf === 'content' ? JSON.stringify(response) : [sinkHash, virtualMergeSet, firstCatchUp, starts];
    const etag = etagOf(request, String(content));
    reply.header('x-kasgres-sink', sinkHash).header('etag', etag);
    if (gaps > 0) reply.header('x-kasgres-gaps', String(gaps));
    const isUnchanged = hasEtag(known, etag);
    // The status is always set, since a first attempt on another state may have set it already (state.ts).
    reply.code(isUnchanged ? 304 : 200);
    if (isUnchanged) return undefined;
    return isReadFirst ? response : await read(reading);
  }, callerOf(request));
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
