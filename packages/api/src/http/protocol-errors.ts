/** Errors before a request is one that a route or a hook could see: the same envelope and headers (API.md, "Errors"), set by hand. */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorEnvelope } from '../schemas/responses.ts';
import { logAccess } from './access-log.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';

/** A URL that cannot be decoded, or has a parameter that is longer than any. */
export function respondBadUrl(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  reply.header(REQUEST_ID_HEADER, request.id).header('x-request-cost-ru', '0');
  reply.code(400).send(envelopeOf(400, 'The URL is malformed'));
  logAccess(request, reply);
}

/** For the client to take the response to a malformed request and close its side. */
const CLOSE_TIMEOUT_MS = 2000;

/** What is no HTTP, comes too slowly, or has headers without end. */
export function respondClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const { code = '' } = error;
  // Over TLS, errors of the handshake come here too. Nothing can be sent before it is complete: `end` would wait for that for ever.
  if (!isOfHttp(code) || !socket.writable) {
    socket.destroy();
    return;
  }
  const statusCode = STATUS_OF[code] ?? 400;
  const words = STATUS_CODES[statusCode] ?? '';
  const body = JSON.stringify(envelopeOf(statusCode, words));
  socket.end(
    [
      `HTTP/1.1 ${statusCode} ${words}`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `${REQUEST_ID_HEADER}: ${randomUUID()}`,
      'x-request-cost-ru: 0',
      '',
      body,
    ].join('\r\n'),
  );
  // The parser is done with this connection, and with it the time limits of requests.
  const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Errors of the HTTP parser, and of a request that did not arrive in time. Both come only once the connection can carry a response. */
const isOfHttp = (code: string): boolean => code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';

const envelopeOf = (statusCode: number, message: string): ErrorEnvelope =>
  statusCode === 400 ? { statusCode, message, details: [{ path: '', message }] } : { statusCode, message };

const STATUS_OF: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  // The chunks of a body may carry extensions without end.
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};
