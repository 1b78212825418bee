import type { FastifyRequest } from 'fastify';
import { parseToken } from './stream-tokens.ts';

/** Returns the key of a request, or the token of a stream in its URL. */
export function credentialOf(
  request: FastifyRequest,
  operation: { acceptsToken?: boolean } | undefined = request.routeOptions.config.operation,
): string | undefined {
  const { headers, query } = request;
  const { 'x-api-key': key } = headers;
  if (key !== undefined) return String(key);
  const { token } = query as { token?: unknown };
  return operation?.acceptsToken === true && typeof token === 'string' ? token : undefined;
}

/** Whether `x-api-key` has a token of a stream, which may be in the URL only. */
export function hasMisplacedToken({ headers: { 'x-api-key': key } }: Pick<FastifyRequest, 'headers'>): boolean {
  return key !== undefined && parseToken(String(key)) !== undefined;
}
