/**
 * Responds to every error with `{statusCode, message}`, and `details` for a 400. Only bugs are
 * logged as errors.
 */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorDetail, type ErrorEnvelope, HttpError, MAX_DETAILS } from '@kasgres/reads';
import { LineLimit } from '@kasgres/runtime';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { findPendingResponse } from './pipelining.ts';
import { pathOf, REQUEST_ID_HEADER } from './request-identity.ts';
import { toHttpError } from './to-http-error.ts';

/** Without it, caches may keep a 404 as long as they like (RFC 9111 §4.2.2). */
const NO_STORE = 'no-store';

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'The request is malformed',
  413: 'The body is larger than 1 MiB',
  415: 'The body must be application/json',
};

export function useErrorEnvelope(app: FastifyInstance): void {
  app.setErrorHandler(async (error: unknown, request, reply) => {
    const known = toHttpError(error) ?? fromFastify(error);
    if ((known === undefined || known.statusCode === 503) && admitLine(request)) {
      if (known === undefined) request.log.error({ err: error, requestId: request.id }, 'request failed');
      else request.log.warn({ reason: reasonOf(known.cause) }, known.message);
    }
    const { statusCode, message, details, retryAfterSeconds, headers } = known ?? internalError(request.id);
    // These headers may have been set before the error; they describe another response.
    reply.code(statusCode).removeHeader('etag').removeHeader('x-kasgres-sink').removeHeader('x-kasgres-gaps');
    reply.headers(headers);
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', NO_STORE);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    return responseTo(request, envelopeOf(statusCode, message, details));
  });
}

const responseTo = (request: FastifyRequest, envelope: ErrorEnvelope): object =>
  isOfRestServer(request) ? { ...envelope, detail: toDetail(envelope) } : envelope;

/** Clients of kaspa-rest-server read `detail`. */
const isOfRestServer = (request: FastifyRequest): boolean => pathOf(request).startsWith('/rest/');

const toDetail = ({ message, details = [] }: ErrorEnvelope): string =>
  details.length === 0
    ? message
    : details.map((detail) => (detail.path === '' ? detail.message : `${detail.path}: ${detail.message}`)).join('; ');

/** Lines per second: a flood of requests would fill the disk while the database is busy. */
const failures = new LineLimit(20);

/** Counts a line, and returns whether it may be written. */
const admitLine = (request: FastifyRequest): boolean =>
  failures.admit((omitted) => request.log.warn({ omitted }, 'omitted log lines of failed requests'));

/** Field names and errors of the node may repeat any part of the request. */
const MAX_MESSAGE_LENGTH = 1000;
const MAX_DETAIL_LENGTH = 200;
/**
 * Size of the details as JSON, where a character may take 6 bytes. With the message, the response
 * stays below 16 kB.
 */
const MAX_DETAILS_BYTES = 9000;

export function envelopeOf(statusCode: number, message: string, details = [{ path: '', message }]): ErrorEnvelope {
  const envelope = { statusCode, message: shorten(message, MAX_MESSAGE_LENGTH) };
  return statusCode === 400 ? { ...envelope, details: boundDetails(details) } : envelope;
}

function boundDetails(details: readonly ErrorDetail[]): ErrorDetail[] {
  const bounded: ErrorDetail[] = [];
  let bytes = 0;
  for (const { path, message } of details.slice(0, MAX_DETAILS)) {
    const detail = { path: shorten(path, MAX_DETAIL_LENGTH), message: shorten(message, MAX_DETAIL_LENGTH) };
    bytes += Buffer.byteLength(JSON.stringify(detail));
    if (bytes > MAX_DETAILS_BYTES) break;
    bounded.push(detail);
  }
  return bounded;
}

/** Half of a surrogate pair would be JSON that strict parsers refuse. */
const shorten = (text: string, length: number): string =>
  (text.length > length ? `${text.slice(0, length - 1)}…` : text).replace(/\p{Cs}/gu, '\ufffd');

function fromFastify(error: unknown): HttpError | undefined {
  // Fastify's errors have a code; those of its static-file plugin have `expose`.
  const { code, statusCode, message, expose } = error as FastifyError & { expose?: boolean };
  if ((code === undefined && expose !== true) || statusCode === undefined || statusCode >= 500) return undefined;
  return new HttpError(statusCode, REFUSALS[statusCode] ?? message, { details: [{ path: '', message }] });
}

/** The error of a bug, which the log must explain under this id. */
export const internalError = (requestId: string): HttpError =>
  new HttpError(500, `Internal server error (request ${requestId})`);

/** Returns the message only, since errors of outages reference whole connections. */
const reasonOf = (cause: unknown): string | undefined => (cause instanceof Error ? cause.message : undefined);

const CLOSE_TIMEOUT_MS = 2000;

/** Connections whose error is sent after a response that is still due. */
const refused = new WeakSet<Socket>();

/** Responds to invalid HTTP, requests that arrive too slowly, and headers that are too large. */
export function respondClientError({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  if (refused.has(socket)) return;
  const response = findPendingResponse(socket);
  // TLS handshake errors arrive here, too. Nothing can be sent before the handshake is complete:
  // `end` would wait forever.
  if (!isOfHttp(code)) socket.destroy();
  else if (response === undefined) sendError(code, socket);
  else if (response.req.complete && (response.writableEnded || !response.headersSent)) {
    // The error is of what follows a request, whose response comes first.
    refused.add(socket);
    response.once('close', () => sendError(code, socket));
  } else if (response.socket === null || response.headersSent) socket.destroy();
  else sendError(code, socket);
}

function sendError(code: string, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const statusCode = STATUS_OF[code] ?? 400;
  const reason = STATUS_CODES[statusCode] ?? '';
  const body = JSON.stringify(envelopeOf(statusCode, reason));
  socket.end(
    [
      `HTTP/1.1 ${statusCode} ${reason}`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `${REQUEST_ID_HEADER}: ${randomUUID()}`,
      'x-request-cost-ru: 0',
      `cache-control: ${NO_STORE}`,
      '',
      body,
    ].join('\r\n'),
  );
  // Request timeouts no longer apply to this connection.
  const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Parser errors and request timeouts occur only once the connection can carry a response. */
const isOfHttp = (code: string): boolean => code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';

const STATUS_OF: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};
