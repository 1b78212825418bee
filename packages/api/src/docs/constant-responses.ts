/**
 * Compresses and hashes constant responses once, and serves them from memory. The script of Scalar
 * has 4.8 MB, needs no key, and would otherwise be compressed for each request.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import zlib, { brotliCompress, type BrotliOptions, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding } from '../http/accept.ts';
import { pathOf } from '../http/request-identity.ts';
import { hasEtag } from '../http/respond.ts';
import type { Pacer } from '../limits/pacer.ts';

interface ConstantResponse {
  headers: Record<string, number | string | string[] | undefined>;
  body: Buffer;
  etag: string;
}

/** A response counts as one more for each of these. */
const BYTES_PER_WEIGHT = 64 * 1024;

const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);

/**
 * In the order of preference (http/compression.ts), at better levels, except the best of brotli,
 * which takes seconds. Versions of Node before 22.15 have no zstd.
 */
const COMPRESS: Record<string, (body: Buffer) => Promise<Buffer>> = {
  ...(zlib.zstdCompress && { zstd: promisify(zlib.zstdCompress) }),
  br: (body) => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip),
};

interface CachedResponse {
  /**
   * Clients wait for a response that is being made, so that it is compressed once. Undefined if it
   * was not made.
   */
  response: Promise<ConstantResponse | undefined>;
  /** By performance.now(). Then it is made again. */
  validUntil: number;
}

/**
 * @param folder path under which every file is constant, and cached by browsers permanently, since
 * names change with the content
 * @param paths other paths, which browsers revalidate each time, and for how many milliseconds a
 * response to them is constant
 * @param pacer limits how many bytes are sent, beside the requests that it has let pass
 */
export function serveConstantResponses(
  app: FastifyInstance,
  folder: string,
  paths: Readonly<Record<string, number>>,
  pacer: Pacer,
): void {
  const responses = new Map<string, CachedResponse>();
  const making = new WeakMap<FastifyRequest, (response: ConstantResponse | undefined) => void>();
  // Other spellings of a path are not cached, since clients could fill the memory with them.
  const isFile = (path: string): boolean =>
    path.startsWith(folder) && /^\/\w[\w.-]*(?:\/\w[\w.-]*)?$/.test(path.slice(folder.length));
  const isConstant = (path: string): boolean => isFile(path) || Object.hasOwn(paths, path);

  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request);
    if (!isConstant(path)) return undefined;
    const { headers } = request;
    // Normalizes the header, so that it is a key of the cache, and ignores ranges.
    headers['accept-encoding'] = chooseEncoding(headers['accept-encoding'], Object.keys(COMPRESS));
    delete headers.range;
    const key = keyOf(request);
    const cached = responses.get(key);
    if (cached === undefined || performance.now() > cached.validUntil) {
      if (request.method !== 'GET') return undefined;
      const { promise, resolve } = Promise.withResolvers<ConstantResponse | undefined>();
      responses.set(key, { response: promise, validUntil: Number.POSITIVE_INFINITY });
      making.set(request, resolve);
      // If its response timed out, the hook below is not called.
      reply.raw.once('close', () => {
        if (!making.delete(request)) return;
        responses.delete(key);
        resolve(undefined);
      });
      return undefined;
    }
    const known = await cached.response;
    if (known === undefined) return undefined;
    reply.headers(known.headers);
    if (hasEtag(headers['if-none-match'], known.etag)) return reply.code(304).send();
    const weight = Math.floor(known.body.length / BYTES_PER_WEIGHT);
    if (weight > 0) await pacer.wait(reply.raw, weight);
    return reply.send(known.body);
  });

  app.addHook('onSend', async (request, reply, payload: unknown) => {
    const resolve = making.get(request);
    if (resolve === undefined) return payload;
    making.delete(request);
    let made: ConstantResponse | undefined;
    try {
      if (reply.statusCode === 200) made = await toConstant(request, reply, payload, isFile(pathOf(request)));
    } finally {
      if (made === undefined) responses.delete(keyOf(request));
      resolve(made);
    }
    if (made === undefined) return payload;
    const cached = responses.get(keyOf(request));
    const lifeMs = paths[pathOf(request)];
    if (cached !== undefined && lifeMs !== undefined) cached.validUntil = performance.now() + lifeMs;
    for (const name of ['content-length', 'last-modified', 'accept-ranges']) reply.removeHeader(name);
    reply.headers(made.headers);
    return made.body;
  });
}

async function toConstant(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  isFile: boolean,
): Promise<ConstantResponse> {
  const encoding = request.headers['accept-encoding'] as string;
  const content = payload instanceof Readable ? await buffer(payload) : Buffer.from(payload as string);
  const body = (await COMPRESS[encoding]?.(content)) ?? content;
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = {
    'content-type': reply.getHeader('content-type'),
    'cache-control': isFile ? 'public, max-age=31536000, immutable' : 'public, no-cache',
    etag,
    // Also keeps http/compression.ts from compressing again.
    ...(encoding !== 'identity' && { 'content-encoding': encoding }),
  };
  return { headers, body, etag };
}

const keyOf = (request: FastifyRequest): string => `${request.headers['accept-encoding'] ?? ''} ${pathOf(request)}`;
