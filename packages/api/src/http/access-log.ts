/** A line in the log for each request. Never the key: its number in the database tells whose request it was. */
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Some put the key where it does not belong; a percent-encoded underscore does not hide it. */
const KEY_IN_URL = /kdp(_|%5f)[0-9a-f]+/gi;

export const withoutKeys = (url: string): string => url.replaceAll(KEY_IN_URL, 'kdp_[redacted]');

/** Enough to tell what was asked for; anybody can send URLs of 16 KiB. */
const MAX_URL_LENGTH = 300;

const shorten = (url: string): string => (url.length > MAX_URL_LENGTH ? `${url.slice(0, MAX_URL_LENGTH)}…` : url);

/** A second. Anybody can also send any number of requests that are refused without a key. */
const MAX_KEYLESS_ERRORS = 20;

const keylessErrors = { second: 0, lines: 0, omitted: 0 };

/** Counts a line, and tells whether there is room for it. */
function hasRoom(request: FastifyRequest): boolean {
  const second = Math.floor(Date.now() / 1000);
  if (second !== keylessErrors.second) {
    const { omitted } = keylessErrors;
    if (omitted > 0) request.log.warn({ omitted }, 'left out lines of requests that were refused without a key');
    Object.assign(keylessErrors, { second, lines: 0, omitted: 0 });
  }
  keylessErrors.lines += 1;
  if (keylessErrors.lines <= MAX_KEYLESS_ERRORS) return true;
  keylessErrors.omitted += 1;
  return false;
}

export function logAccess(request: FastifyRequest, reply: FastifyReply): void {
  const isKeyless = request.apiKey === undefined || request.apiKey === null;
  if (isKeyless && reply.statusCode >= 400 && !hasRoom(request)) return;
  const fields = {
    method: request.method,
    url: shorten(withoutKeys(request.url)),
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    apiKeyId: request.apiKey?.id,
    ...(request.refusal && { refusal: request.refusal }),
  };
  request.log.info(fields, 'answered');
}
