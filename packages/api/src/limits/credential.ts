import type { FastifyRequest } from 'fastify';
import { parseToken } from './stream-tokens.ts';

/** A token of a stream may be in the URL, and only there. */
export function credentialOf(
  request: FastifyRequest,
  operation: { acceptsToken?: boolean } | undefined = request.routeOptions.config.operation,
): string | undefined {
  const { headers, query } = request;
  const { 'x-api-key': key } = headers;
  if (key !== undefined) return parseToken(String(key)) === undefined ? String(key) : 'a token is no key';
  const { token } = query as { token?: unknown };
  return operation?.acceptsToken === true && typeof token === 'string' ? token : undefined;
}
