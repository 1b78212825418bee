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

/**
 * Whether a token of a stream is in `x-api-key`, or anything else in the URL: a key there would be
 * in the logs of proxies.
 */
export const isMisplaced = ({ headers }: Pick<FastifyRequest, 'headers'>, credential: string): boolean =>
  (headers['x-api-key'] === undefined) === (parseToken(credential) === undefined);
