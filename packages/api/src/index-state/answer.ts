/**
 * How an answer from the database leaves: with the sink it was read at, how many gaps the index has, and a weak entity tag that changes with what it was read
 * from, so that a client that has it already gets a 304 before anything else is read (API.md, "Where each answer comes from").
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../http/caller.ts';
import type { IndexReader, IndexState, Reading } from './state.ts';

const ANY_ETAG = '*';

/** Answers from one state of the index; undefined, which leaves as a 304 without a body, when the client has this answer. */
export function respondFromIndex<T>(
  index: IndexReader,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (reading: Reading) => Promise<T>,
): Promise<T | undefined> {
  return index.read(async (reading) => {
    const { sinkHash, virtualMergeSet, firstCatchUp, starts } = reading.state;
    const content = [sinkHash, virtualMergeSet, firstCatchUp, starts].join();
    if (request.headers['if-none-match']?.trim() === ANY_ETAG) {
      // It matches only a resource that exists (RFC 9110 §13.1.2): `work` throws the 404 of one that does not.
      await work(reading);
      return void isKnown(request, reply, reading.state, content);
    }
    return isKnown(request, reply, reading.state, content) ? undefined : await work(reading);
  }, callerOf(request));
}

/**
 * The same for an answer that changes without the chain (with its tags), or stays while the chain goes on (a block of long ago): the
 * entity tag is made of the answer, so that a 304 saves its way but not its making.
 */
export function respondByContent<T>(
  index: IndexReader,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (reading: Reading) => Promise<T>,
): Promise<T | undefined> {
  return index.read(async (reading) => {
    const answer = await work(reading);
    return isKnown(request, reply, reading.state, JSON.stringify(answer)) ? undefined : answer;
  }, callerOf(request));
}

/**
 * Sets `x-kasgres-sink`, `x-kasgres-gaps` and `etag`, and the status 304 when the client has this answer already.
 * @param content with which the answer changes
 */
function isKnown(
  request: FastifyRequest,
  reply: FastifyReply,
  { sinkHash, gaps }: IndexState,
  content: string,
): boolean {
  const etag = etagOf(request, content);
  reply.header('x-kasgres-sink', sinkHash);
  if (gaps > 0) reply.header('x-kasgres-gaps', String(gaps));
  reply.header('etag', etag);
  const known = hasEtag(request.headers['if-none-match'], etag);
  // Set either way: this may be the second try, on another state than the first (state.ts).
  reply.code(known ? 304 : 200);
  return known;
}

/** The request is part of it: one URL with different bodies has different answers. */
function etagOf(request: FastifyRequest, content: string): string {
  const body = JSON.stringify(request.body, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  const digest = createHash('sha256').update([request.url, body, content].join('\n')).digest('base64url');
  return `W/"${digest.slice(0, 22)}"`;
}

/** Weak comparison of an `if-none-match` list (RFC 9110 §13.1.2). */
function hasEtag(list: string | undefined, etag: string): boolean {
  const opaque = etag.replace('W/', '');
  return (list ?? '').split(',').some((entry) => [ANY_ETAG, opaque].includes(entry.trim().replace(/^W\//, '')));
}
