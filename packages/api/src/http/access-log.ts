/** Logs a line for each request: with the number of the key in the database, never the key itself. */
import type { Logger } from '@kasgres/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { REQUEST_ID_FIELD } from './request-logger.ts';

/** Some clients send the key in the URL, possibly with a percent-encoded underscore; tokens of streams are always there. */
const KEY_IN_URL = /(kdp|kst)(?:_|%5f)[\w%-]+/gi;

export const withoutKeys = (url: string): string =>
  url.replaceAll(KEY_IN_URL, (_, prefix: string) => `${prefix.toLowerCase()}_[redacted]`);

const MAX_URL_LENGTH = 300;

const shorten = (url: string): string => (url.length > MAX_URL_LENGTH ? `${url.slice(0, MAX_URL_LENGTH)}…` : url);

/** Lines per second. The number of requests that are refused without a key is unlimited. */
const MAX_KEYLESS_ERRORS = 20;

let currentSecond = 0;
let keylessErrors = 0;

/** Counts a line, and returns whether it may be written. */
function hasRoom(request: FastifyRequest): boolean {
  const second = Math.floor(Date.now() / 1000);
  if (second !== currentSecond) {
    const omitted = keylessErrors - MAX_KEYLESS_ERRORS;
    if (omitted > 0) request.log.warn({ omitted }, 'omitted log lines of refused requests without a key');
    [currentSecond, keylessErrors] = [second, 0];
  }
  keylessErrors += 1;
  return keylessErrors <= MAX_KEYLESS_ERRORS;
}

declare module 'fastify' {
  interface FastifyInstance {
    accessLog: Logger;
  }
}

/** Makes the logger of these lines: without the redaction of other lines, which takes longer than all else of a line. These have fixed fields. */
export const accessLogOf = (logger: Logger): Logger => logger.child({}, { redact: [] });

export function logAccess(request: FastifyRequest, reply: FastifyReply): void {
  const isKeyless = request.apiKey === undefined || request.apiKey === null;
  if (isKeyless && reply.statusCode >= 400 && !hasRoom(request)) return;
  const { id: requestId, method, url, apiKey, refusal } = request;
  const { statusCode: status, elapsedTime: durationMs } = reply;
  const apiKeyId = apiKey?.id;
  writeAccess(request.server.accessLog, {
    requestId,
    method,
    url,
    status,
    durationMs,
    apiKeyId,
    ...(refusal && { refusal }),
  });
}

interface Access {
  requestId: string;
  method: string;
  url: string;
  status: number;
  durationMs: number;
  apiKeyId: bigint | null | undefined;
  refusal?: string;
}

export function writeAccess(accessLog: Logger, { requestId, url, durationMs, ...access }: Access): void {
  if (!accessLog.isLevelEnabled('info')) return;
  const fields = {
    [REQUEST_ID_FIELD]: requestId,
    url: shorten(withoutKeys(url)),
    durationMs: Math.round(durationMs * 10) / 10,
    ...access,
  };
  accessLog.info(fields, 'responded');
}
