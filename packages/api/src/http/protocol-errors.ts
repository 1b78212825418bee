/** Errors before a request is one that a route could see: the same envelope (API.md, "Errors"), written by hand. */
import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorEnvelope } from '../schemas/responses.ts';

/** A URL that cannot be decoded. */
export function answerBadUrl(_error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  const envelope: ErrorEnvelope = { statusCode: 400, message: 'The URL is malformed' };
  reply.code(400).send(envelope);
}

/** What is no HTTP, comes too slowly, or has headers without end. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const statusCode = STATUS_OF[error.code ?? ''] ?? 400;
  const envelope: ErrorEnvelope = { statusCode, message: STATUS_CODES[statusCode] ?? '' };
  const body = JSON.stringify(envelope);
  socket.end(
    [
      `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
}

const STATUS_OF: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};
