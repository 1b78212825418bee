/**
 * Serves the explorer at / from memory. It needs no key, since its pages request the data with that
 * of their user. Unknown paths get its document only if a browser opens them as a page
 * (unknown-routes.ts): anything else is a 404 as JSON, as in the whole API.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { hasEtag } from '../http/respond.ts';
import { chooseEncoding } from '../http/accept.ts';
import { pathOf } from '../http/request-identity.ts';
import type { ExplorerFile, ExplorerFiles } from './files.ts';
import { addPageData, encodePart, MISSING, type PageReader } from './page-data.ts';

/** The paths of packages/explorer/src/app.tsx. */
const PAGES: readonly string[] = [
  '/',
  '/blocks',
  '/blocks/:hash',
  '/transactions',
  '/transactions/:transactionId',
  '/addresses/:address',
  '/tags',
  '/tags/:name',
  '/covenants',
  '/covenants/:covenantId',
  '/programs/:programHash',
  '/templates',
  '/templates/:template',
  '/lanes',
  '/lanes/:namespace',
  '/protocols',
  '/rich-list',
  '/mempool',
  '/miners',
  '/charts',
  '/status',
];

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The paths of the API, where people expect what clients get. */
const API_PATH = /^\/(?:v1|rest|docs|openapi)/;

/** Paths of other explorers, and what people type, with the pages that they mean. */
const REDIRECTS: Readonly<Record<string, string>> = {
  '/block/:id': '/blocks/',
  '/txs': '/transactions',
  '/txs/:id': '/transactions/',
  '/tx/:id': '/transactions/',
  '/transaction/:id': '/transactions/',
  '/addresses': '/rich-list',
  '/address/:id': '/addresses/',
  '/addr/:id': '/addresses/',
};

interface ExplorerOptions {
  files: ExplorerFiles;
  /** Reads what a page shows; undefined without anonymous access. */
  readPage: PageReader | undefined;
}

export const explorerRoutes: FastifyPluginAsync<ExplorerOptions> = async (app, { files, readPage }) => {
  const document = files.get('index.html');
  for (const [name, file] of files) {
    if (file === document) continue;
    // The names of assets contain a hash of their content.
    const cacheControl = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'public, no-cache';
    app.get(`/${name}`, (request, reply) => send(request, reply, file, cacheControl));
  }
  if (document === undefined) return;
  const text = String(document.contents.get('identity'));
  for (const path of PAGES) {
    app.get(path, async (request, reply) => {
      // Pages cannot decode what http/request-identity.ts has to escape.
      const [asked, shown] = [pathOf({ url: request.originalUrl }), withPlainHash(pathOf(request))];
      if (shown !== asked) return redirect(request, reply, shown);
      const found = await readPage?.(request);
      if (found === undefined) return sendDocument(request, reply, document);
      if (found === MISSING) return sendDocument(request, reply.code(404), document);
      reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
      reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
      return reply.header('cache-control', 'no-cache').type(document.contentType).send(addPageData(text, found));
    });
  }
  for (const path of PAGES.filter((page) => page !== '/')) {
    // A known page begins the path, so that it leads to no other host.
    app.get(`${path}/`, (request, reply) => redirect(request, reply, request.url.replace(/\/(?:\?.*)?$/s, '')));
  }
  for (const [path, page] of Object.entries(REDIRECTS)) {
    for (const each of [path, `${path}/`]) {
      app.get(each, (request, reply) => {
        const { id = '' } = request.params as { id?: string };
        return redirect(request, reply, `${page}${encodePart(id)}`);
      });
    }
  }
};

/** The API takes hashes with `0x` and in upper case; pages compare them. */
const withPlainHash = (path: string): string =>
  path.replace(
    /^(\/(?:blocks|transactions|covenants|programs|templates|lanes)\/)(?:0x)?([0-9a-f]{64}|[0-9a-f]{8})$/i,
    (_, page: string, hash: string) => page + hash.toLowerCase(),
  );

/** @param path of the page, which gets the query of the request */
const redirect = (request: FastifyRequest, reply: FastifyReply, path: string): FastifyReply =>
  reply.redirect(`${path}${/\?.*$/s.exec(request.url)?.[0] ?? ''}`, 301);

/** Whether a browser opens a path outside of the API as a page. */
export const isPageRequest = (request: FastifyRequest): boolean =>
  /^(?:GET|HEAD)$/.test(request.method) &&
  /\btext\/html\b/.test(request.headers.accept ?? '') &&
  !API_PATH.test(pathOf(request));

export function sendDocument(request: FastifyRequest, reply: FastifyReply, document: ExplorerFile): FastifyReply {
  reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
  return send(request, reply, document, 'no-cache');
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { contentType, etag, contents }: ExplorerFile,
  cacheControl: string,
): FastifyReply {
  const encoding = chooseEncoding(request.headers['accept-encoding'], [...contents.keys()]);
  const tag = `"${etag}-${encoding}"`;
  reply.header('content-type', contentType).header('cache-control', cacheControl).header('etag', tag);
  reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
  // A page of something that does not exist is a 404 each time.
  if (reply.statusCode === 200 && hasEtag(request.headers['if-none-match'], tag)) return reply.code(304).send();
  // The header also keeps http/compression.ts from compressing again.
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.send(contents.get(encoding));
}
