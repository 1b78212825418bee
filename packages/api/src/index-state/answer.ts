/**
 * How an answer from the database leaves: with the sink it was read at, and a weak entity tag that changes with what it was read
 * from, so that a client that has it already gets a 304 before anything else is read (API.md, "Where each answer comes from").
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IndexReader, IndexState, Reading } from './state.ts';

/** Answers from one state of the index; undefined, which leaves as a 304 without a body, when the client has this answer. */
export function answerFromIndex<T>(
  index: IndexReader,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (reading: Reading) => Promise<T>,
): Promise<T | undefined> {
  return index.read(async (reading) => (isUnchanged(request, reply, reading.state) ? undefined : await work(reading)));
}

/**
 * The same for answers with tags in them, which change without the chain: the entity tag is made of the answer, so that a 304 saves
 * its way but not its making.
 */
export function answerByContent<T>(
  index: IndexReader,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (reading: Reading) => Promise<T>,
): Promise<T | undefined> {
  return index.read(async (reading) => {
    const answer = await work(reading);
    return isUnchanged(request, reply, reading.state, JSON.stringify(answer)) ? undefined : answer;
  });
}

/**
 * Sets `x-kasgres-sink` and `etag`, and the status 304 when the client has this answer already.
 * @param content what else than the chain's state the answer depends on
 */
function isUnchanged(request: FastifyRequest, reply: FastifyReply, state: IndexState, content = ''): boolean {
  const etag = etagOf(request, state, content);
  reply.header('x-kasgres-sink', state.sinkHash);
  reply.header('etag', etag);
  const unchanged = hasEtag(request.headers['if-none-match'], etag);
  if (unchanged) reply.code(304);
  return unchanged;
}

/** The request is part of it: one URL with different bodies has different answers. */
function etagOf(request: FastifyRequest, state: IndexState, content: string): string {
  const body = JSON.stringify(request.body, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  const parts = [state.sinkHash, state.virtualMergeSet, state.firstCatchUp, request.url, body, content];
  const digest = createHash('sha256').update(parts.join('\n')).digest('base64url');
  return `W/"${digest.slice(0, 22)}"`;
}

/** Weak comparison of an `if-none-match` list (RFC 9110 §13.1.2). */
function hasEtag(list: string | undefined, etag: string): boolean {
  const opaque = etag.replace('W/', '');
  return (list ?? '').split(',').some((entry) => ['*', opaque].includes(entry.trim().replace(/^W\//, '')));
}
