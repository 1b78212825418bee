/** How answers are compressed: they are made anew all the time, so fast counts more than small. */
import { constants, type ZlibOptions, type ZstdOptions } from 'node:zlib';
import { type FastifyCompressOptions, fastifyCompress } from '@fastify/compress';
import type { FastifyInstance } from 'fastify';
import { HttpError } from './errors.ts';

const THRESHOLD_BYTES = 1024;

/** The library hands these to gzip and to zstd; each takes its own. */
const zlibOptions: ZlibOptions & ZstdOptions = {
  level: 1,
  params: { [constants.ZSTD_c_compressionLevel]: 1 },
};

const compression: FastifyCompressOptions = {
  globalDecompression: false,
  threshold: THRESHOLD_BYTES,
  encodings: ['zstd', 'br', 'gzip'],
  brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
  zlibOptions,
};

export async function compressResponses(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCompress, compression);
  app.addHook('onRequest', async (_request, reply) => {
    // Also of answers that are not compressed: another client may get this one so.
    reply.header('vary', 'accept-encoding');
  });
  // Bodies of requests are taken as they are: a small one could unpack to any size.
  app.addHook('preParsing', async (request) => {
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (encoding !== 'identity') throw new HttpError(415, 'The body must not be compressed');
  });
}
