/**
 * Serves the OpenAPI document at /openapi.json, and Scalar at /docs. Both need no key, and nothing
 * from other hosts. The page uses a separate document with examples from this index.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyBaseLogger, FastifyPluginAsync } from 'fastify';
import { describeApi } from '../openapi/document.ts';
import type { AnyOperation } from '../openapi/route.ts';
import { restServerDocument } from '../rest-server/routes.ts';
import type { Services } from '../services.ts';
import { addCodeSamples } from './code-samples.ts';
import { serveConstantResponses } from './constant-responses.ts';
import { findExampleRequests } from './live-examples.ts';
import { readScalar } from './scalar.ts';

const PATH = '/docs';
const FOLDER = `${PATH}/static`;

const EXAMPLES_LIFE_MS = 60_000;
/**
 * After a failure, so that a database outage is not queried for every page, and until the index has
 * its first blocks.
 */
const EXAMPLES_RETRY_MS = 5_000;

/**
 * Scalar adds style sheets, which get the nonce (browser/docs.js), and elements with styles, which
 * cannot have one.
 */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src-elem 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

interface DocsOptions {
  operations: readonly AnyOperation[];
  services: Services;
}

export const docsRoutes: FastifyPluginAsync<DocsOptions> = async (app, { operations, services }) => {
  // Made for the first request: it would take a fifth of the start of each process.
  let document: object | undefined;
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
  });
  const constant = {
    '/openapi.json': Number.POSITIVE_INFINITY,
    '/rest/openapi.json': Number.POSITIVE_INFINITY,
    // Half a megabyte, which would otherwise be compressed for each request.
    [`${PATH}/json`]: EXAMPLES_RETRY_MS,
  };
  serveConstantResponses(app, FOLDER, constant, services.anonymousPacer);
  await app.register(restServerDocument, services);
  if (services.explorer === undefined) app.get('/', (_request, reply) => reply.redirect(PATH));
  app.get('/openapi.json', async () => (document ??= describeApi(operations)));

  let live = { text: Promise.resolve(''), validUntil: 0 };
  const describeLive = async (log: FastifyBaseLogger): Promise<string> => {
    const requests = await findExampleRequests(services).catch((error: unknown) => {
      log.warn({ reason: String(error) }, 'could not find examples for /docs');
      return undefined;
    });
    if (requests === undefined) live.validUntil = performance.now() + EXAMPLES_RETRY_MS;
    return JSON.stringify(addCodeSamples(describeApi(operations, requests ?? {})));
  };
  app.get(`${PATH}/json`, async (request, reply) => {
    const now = performance.now();
    if (live.validUntil < now) live = { text: describeLive(request.log), validUntil: now + EXAMPLES_LIFE_MS };
    return reply
      .type('application/json; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(await live.text);
  });

  /** Serves a file under a name that changes with its content, and returns its URL. */
  const serveFile = (name: string, extension: keyof typeof TYPES, content: string): string => {
    const url = `${FOLDER}/${name}-${createHash('sha256').update(content).digest('hex').slice(0, 16)}.${extension}`;
    app.get(url, (_request, reply) => reply.type(TYPES[extension]).send(content));
    return url;
  };
  const scalarUrl = serveFile('scalar', 'js', await readScalar());
  const scriptUrl = serveFile('docs', 'js', await readBrowserFile('docs.js'));
  const styleUrl = serveFile('docs', 'css', await readBrowserFile('docs.css'));
  const pageOf = (nonce: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Kasgres API</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta property="csp-nonce" content="${nonce}" />
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${styleUrl}" />
    <script defer src="${scriptUrl}"></script>
    <script defer src="${scalarUrl}"></script>
  </head>
  <body>
    <noscript>This page needs JavaScript. The same document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <div id="app"></div>
  </body>
</html>
`;
  for (const url of [PATH, `${PATH}/`]) {
    app.get(url, async (_request, reply) => {
      const nonce = randomBytes(16).toString('base64');
      return reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', contentSecurityPolicy(nonce))
        .header('cache-control', 'no-store')
        .send(pageOf(nonce));
    });
  }
};

const readBrowserFile = (name: string): Promise<string> =>
  readFile(new URL(`browser/${name}`, import.meta.url), 'utf8');
