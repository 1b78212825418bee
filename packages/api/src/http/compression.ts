/** Compresses responses at low levels: they differ each time, so speed matters more than size. */
import { constants, type ZlibOptions, type ZstdOptions } from 'node:zlib';
import { fastifyCompress } from '@fastify/compress';
import { HttpError } from '@kasgres/reads';
import type { FastifyInstance, FastifyRequest, onSendHookHandler } from 'fastify';

/** The library passes these options to both gzip and zstd; each ignores those of the other. */
const zlibOptions: ZlibOptions & ZstdOptions = {
  level: 1,
  params: { [constants.ZSTD_c_compressionLevel]: 1 },
};

const THRESHOLD_BYTES = 1024;
/**
 * Up to this size, compressing takes at most 1.5 ms. In a thread it takes more of the processor in
 * total, and a busy event loop delays each of its steps by a turn.
 */
const MAX_SYNCHRONOUS_BYTES = 64 * 1024;

const isSmall = (payload: unknown): boolean =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) && Buffer.byteLength(payload) < THRESHOLD_BYTES;

export async function compressResponses(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCompress, {
    globalDecompression: false,
    threshold: THRESHOLD_BYTES,
    syncThreshold: MAX_SYNCHRONOUS_BYTES,
    encodings: ['zstd', 'br', 'gzip'],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
    zlibOptions,
  });
  // Wraps the hook that the library has added to the route as the last one: it looks at several
  // headers before it leaves a response as it is.
  app.addHook('onRoute', (route) => {
    const handlers = [route.onSend ?? []].flat() as onSendHookHandler[];
    const compress = handlers.pop();
    if (compress === undefined) return;
    const compressIfUseful: onSendHookHandler = function (request, reply, payload, done) {
      if (request.headers['accept-encoding'] === undefined || isSmall(payload)) done(null, payload);
      else compress.call(this, request, reply, payload, done);
    };
    route.onSend = [...handlers, route.method === 'HEAD' ? removeOtherLength : compressIfUseful];
  });
}

/**
 * Fastify gives a HEAD the length of what it would send without compression, and a 304 the length
 * 0. Neither is that of the response to a GET, so it must not be sent (RFC 9110 §8.6).
 */
const removeOtherLength: onSendHookHandler = ({ headers }, reply, payload, done) => {
  const mayBeCompressed = headers['accept-encoding'] !== undefined && !reply.hasHeader('content-encoding');
  if (mayBeCompressed || reply.statusCode === 304) reply.removeHeader('content-length');
  done(null, payload);
};

/** Refuses a compressed body, since a small one could unpack to any size. @throws HttpError 415 */
export function requireUncompressedBody({ headers }: FastifyRequest): void {
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity')
    throw new HttpError(415, 'The body must not be compressed: send it without content-encoding');
}
