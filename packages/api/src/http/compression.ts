/** How answers are compressed: answers are made anew all the time, so fast counts more than small. */
import { constants, type ZlibOptions, type ZstdOptions } from 'node:zlib';
import type { FastifyCompressOptions } from '@fastify/compress';

const THRESHOLD_BYTES = 1024;

/** The library hands these to gzip and to zstd; each takes its own. */
const zlibOptions: ZlibOptions & ZstdOptions = {
  level: 1,
  params: { [constants.ZSTD_c_compressionLevel]: 1 },
};

export const compression: FastifyCompressOptions = {
  // Bodies of requests are taken as they are: a small one could unpack to any size.
  globalDecompression: false,
  threshold: THRESHOLD_BYTES,
  encodings: ['zstd', 'br', 'gzip'],
  brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
  zlibOptions,
};
