/** A line in the log for each request. Never the key: its number in the database tells whose request it was. */
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Some put the key where it does not belong; a percent-encoded underscore does not hide it. */
const KEY_IN_URL = /kdp(_|%5f)[0-9a-f]+/gi;

export const withoutKeys = (url: string): string => url.replaceAll(KEY_IN_URL, 'kdp_[redacted]');

export function logAccess(request: FastifyRequest, reply: FastifyReply): void {
  const fields = {
    method: request.method,
    url: withoutKeys(request.url),
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    apiKeyId: request.apiKey?.id,
    ...(request.refusal && { refusal: request.refusal }),
  };
  request.log.info(fields, 'answered');
}
