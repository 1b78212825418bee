/** Compresses responses at low levels: they differ each time, so speed matters more than size. */
import { constants, type ZlibOptions, type ZstdOptions } from 'node:zlib';
import { fastifyCompress } from '@fastify/compress';
import type { FastifyInstance } from 'fastify';
import { HttpError } from './errors.ts';

/** The library passes these options to both gzip and zstd; each ignores those of the other. */
const zlibOptions: ZlibOptions & ZstdOptions = {
  level: 1,
  params: { [constants.ZSTD_c_compressionLevel]: 1 },
};

export async function compressResponses(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCompress, {
    globalDecompression: false,
    threshold: 1024,
    encodings: ['zstd', 'br', 'gzip'],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
    zlibOptions,
  });
  app.addHook('onRequest', async (_request, reply) => {
    // Also set on uncompressed responses, since another client may get the same response compressed.
    reply.header('vary', 'accept-encoding');
  });
  // A small compressed body could unpack to any size.
  app.addHook('preParsing', async (request) => {
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (encoding !== 'identity')
      throw new HttpError(415, 'The body must not be compressed: send it without content-encoding');
  });
}
