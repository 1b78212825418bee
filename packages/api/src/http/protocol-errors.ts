/** Responds to errors that occur before hooks and routes run, with the same envelope and headers. */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorEnvelope } from '../schemas/responses.ts';
import { logAccess } from './access-log.ts';
import { REQUEST_ID_HEADER } from './request-identity.ts';

export function respondBadUrl(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  reply.header(REQUEST_ID_HEADER, request.id).header('x-request-cost-ru', '0');
  reply.code(400).send(envelopeOf(400, 'The URL is malformed'));
  logAccess(request, reply);
}

const CLOSE_TIMEOUT_MS = 2000;

/** Responds to invalid HTTP, requests that arrive too slowly, and headers that are too large. */
export function respondClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const { code = '' } = error;
  // TLS handshake errors arrive here, too. Nothing can be sent before the handshake is complete: `end` would wait forever.
  if (!isOfHttp(code) || !socket.writable) {
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

const envelopeOf = (statusCode: number, message: string): ErrorEnvelope =>
  statusCode === 400 ? { statusCode, message, details: [{ path: '', message }] } : { statusCode, message };

const STATUS_OF: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};
