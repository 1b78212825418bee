/**
 * Responses that stay the same as long as the process runs: made, compressed and hashed once, and served from memory. Swagger UI's bundle has
 * 1.5 MB, needs no key, and would be compressed for each request otherwise.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, type BrotliOptions, constants, gzip, zstdCompress } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface ConstantResponsesOptions {
  /** Paths under which every file is constant; browsers need not ask for it again for an hour. */
  folder: string;
  /** Other paths; browsers ask each time whether they have the latest. */
  paths: readonly string[];
}

interface ConstantResponse {
  headers: Record<string, number | string | string[] | undefined>;
  body: Buffer;
  etag: string;
}

const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);

type Encoding = 'zstd' | 'br' | 'gzip' | 'identity';

/** Once, so that the size counts; but the best of brotli would take seconds. */
const compress: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  zstd: promisify(zstdCompress),
  br: (body) => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip),
  identity: async (body) => body,
};

/** In the order in which the API prefers them (compression.ts). */
const PREFERRED: readonly Encoding[] = ['zstd', 'br', 'gzip'];

/** For the routes of this instance. */
export function serveConstantResponses(app: FastifyInstance, { folder, paths }: ConstantResponsesOptions): void {
  const responses = new Map<string, ConstantResponse>();
  // A path has many spellings, of which only the plain one is kept: clients must not fill the memory with others.
  const isFile = (path: string): boolean =>
    path.startsWith(folder) && /^\/\w[\w.-]*(?:\/\w[\w.-]*)?$/.test(path.slice(folder.length));
  const isConstant = (path: string): boolean => isFile(path) || paths.includes(path);

  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request);
    if (!isConstant(path)) return undefined;
    const { headers } = request;
    // One of few, whatever the client's list looks like; and never a part.
    headers['accept-encoding'] = chooseEncoding(headers['accept-encoding']);
    delete headers.range;
    const known = responses.get(keyOf(request));
    if (known === undefined) return undefined;
    reply.headers(known.headers);
    if (isEtagOf(known, headers['if-none-match'])) return reply.code(304).send();
    return reply.send(known.body);
  });

  app.addHook('onSend', async (request, reply, payload: unknown) => {
    const path = pathOf(request);
    if (request.method !== 'GET' || reply.statusCode !== 200 || !isConstant(path) || responses.has(keyOf(request)))
      return payload;
    const encoding = request.headers['accept-encoding'] as Encoding;
    const body = await compress[encoding](await readPayload(payload));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const headers = {
      'content-type': reply.getHeader('content-type'),
      'cache-control': isFile(path) ? 'public, max-age=3600' : 'public, no-cache',
      etag,
      // Also tells the compression of other responses that there is nothing left to do.
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    };
    for (const name of ['content-length', 'last-modified', 'accept-ranges']) reply.removeHeader(name);
    reply.headers(headers);
    responses.set(keyOf(request), { headers, body, etag });
    return body;
  });
}

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '';

const keyOf = (request: FastifyRequest): string => `${request.headers['accept-encoding'] ?? ''} ${pathOf(request)}`;

function chooseEncoding(accepted: string | string[] | undefined): Encoding {
  const entries = String(accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((entry) => entry.trim());
  const isAccepted = (name: string): boolean =>
    entries.some((entry) => (entry === name || entry.startsWith(`${name};`)) && !/;\s*q=0(?:\.0*)?$/.test(entry));
  return PREFERRED.find(isAccepted) ?? 'identity';
}

function isEtagOf({ etag }: ConstantResponse, list = ''): boolean {
  return list.split(',').some((entry) => ['*', etag].includes(entry.trim().replace(/^W\//, '')));
}

async function readPayload(payload: unknown): Promise<Buffer> {
  if (Buffer.isBuffer(payload)) return payload;
  if (typeof payload === 'string') return Buffer.from(payload);
  const parts: Buffer[] = [];
  for await (const part of payload as AsyncIterable<Buffer | string>) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
