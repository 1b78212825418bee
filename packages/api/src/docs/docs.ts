/**
 * Serves the OpenAPI document at /openapi.json, and Swagger UI at /docs. Both need no key, and nothing from other hosts. The page uses a separate
 * document with examples from this index.
 */
import { readFile } from 'node:fs/promises';
import swagger, { type SwaggerOptions } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyBaseLogger, FastifyPluginAsync } from 'fastify';
import { describeApi } from '../openapi/document.ts';
import type { AnyOperation } from '../route.ts';
import type { Services } from '../services.ts';
import { serveConstantResponses } from './constant-responses.ts';
import { findExampleRequests } from './live-examples.ts';

const PATH = '/docs';

const EXAMPLES_LIFE_MS = 60_000;
/** After a failure, so that a database outage is not queried for every page, and until the index has its first blocks. */
const EXAMPLES_RETRY_MS = 5_000;

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Globals of the page in the script that creates Swagger UI. */
declare const ui: object;
declare const window: EventTarget;

/** Runs in the browser: its source text becomes part of the page. */
function announceUi(): void {
  window.dispatchEvent(new CustomEvent('swagger-ui', { detail: ui }));
}

interface DocsOptions {
  operations: readonly AnyOperation[];
  services: Services;
}

export const docsRoutes: FastifyPluginAsync<DocsOptions> = async (app, { operations, services }) => {
  const document = describeApi(operations);
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
  });
  serveConstantResponses(app, `${PATH}/static`, [PATH, `${PATH}/`, `${PATH}/yaml`, '/openapi.json']);
  if (services.explorer === undefined) app.get('/', (_request, reply) => reply.redirect(PATH));
  app.get('/openapi.json', async () => document);

  let live = { text: Promise.resolve(''), validUntil: 0 };
  const describeLive = async (log: FastifyBaseLogger): Promise<string> => {
    const requests = await findExampleRequests(services).catch((error: unknown) => {
      log.warn({ reason: String(error) }, 'could not find examples for /docs');
      return undefined;
    });
    if (requests === undefined) live.validUntil = performance.now() + EXAMPLES_RETRY_MS;
    return JSON.stringify(describeApi(operations, requests ?? {}));
  };
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.url !== `${PATH}/json`) return;
    const now = performance.now();
    if (live.validUntil < now) live = { text: describeLive(request.log), validUntil: now + EXAMPLES_LIFE_MS };
    await reply.type('application/json; charset=utf-8').send(await live.text);
  });

  // The types of the plugin do not support OpenAPI 3.1.
  await app.register(swagger, { mode: 'static', specification: { document } } as SwaggerOptions);
  await app.register(swaggerUi, {
    routePrefix: PATH,
    staticCSP: CONTENT_SECURITY_POLICY,
    uiConfig: {
      displayOperationId: true,
      displayRequestDuration: true,
      docExpansion: 'list',
      // This layout has no bar to load other documents.
      layout: 'BaseLayout',
      onComplete: announceUi,
      showExtensions: true,
      syntaxHighlight: { theme: 'agate' },
      tryItOutEnabled: true,
    },
    theme: {
      title: 'Kasgres API',
      js: [
        { filename: 'keep-key.js', content: await readFile(new URL('browser/keep-key.js', import.meta.url), 'utf8') },
      ],
    },
  });
};
