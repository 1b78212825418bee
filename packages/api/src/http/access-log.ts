/**
 * Logs a line for each request: with the number of the key in the database, never the key itself.
 */
import type { Logger } from '@kasgres/runtime';
import { LineLimit } from '@kasgres/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { REQUEST_ID_FIELD } from './request-logger.ts';

/**
 * Some clients send the key in the URL, possibly with a percent-encoded underscore; tokens of
 * streams are always there.
 */
const KEY_IN_URL = /(kdp|kst)(?:_|%5f)[\w%-]+/gi;

export const withoutKeys = (url: string): string =>
  url.replaceAll(KEY_IN_URL, (_, prefix: string) => `${prefix.toLowerCase()}_[redacted]`);

const MAX_URL_LENGTH = 300;

const shorten = (url: string): string => (url.length > MAX_URL_LENGTH ? `${url.slice(0, MAX_URL_LENGTH)}…` : url);

/** Lines per second of requests without a key, whose number is unlimited. */
const errorsWithoutKey = new LineLimit(20);
const othersWithoutKey = new LineLimit(500);

/** Counts a line, and returns whether it may be written. */
function admitLine(request: FastifyRequest, isError: boolean): boolean {
  const kind = isError ? 'refused requests' : 'requests';
  return (isError ? errorsWithoutKey : othersWithoutKey).admit((omitted) =>
    request.log.warn({ omitted }, `omitted log lines of ${kind} without a key`),
  );
}

declare module 'fastify' {
  interface FastifyInstance {
    accessLog: Logger;
  }
}

/**
 * Makes the logger of these lines: without the redaction of other lines, which takes longer than
 * all else of a line. These have fixed fields.
 */
export const accessLogOf = (logger: Logger): Logger => logger.child({}, { redact: [] });

export function logAccess(request: FastifyRequest, reply: FastifyReply): void {
  // `apiKey` is null without a valid key, and has no id for a client that is served without one.
  if (request.apiKey?.id == null && !admitLine(request, reply.statusCode >= 400)) return;
  const { id: requestId, method, originalUrl: url, apiKey, refusal } = request;
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

function writeAccess(accessLog: Logger, { requestId, url, durationMs, ...access }: Access): void {
  if (!accessLog.isLevelEnabled('info')) return;
  const fields = {
    [REQUEST_ID_FIELD]: requestId,
    url: shorten(withoutKeys(url)),
    durationMs: Math.round(durationMs * 10) / 10,
    ...access,
  };
  accessLog.info(fields, 'responded');
}
