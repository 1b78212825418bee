/** Refuses unknown paths (404) and methods that a path does not have (405). Both cost nothing, and need no key. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpError, notFound } from '../http/errors.ts';
import { pathOf } from '../http/request-identity.ts';
import type { Services } from '../services.ts';
import { isPageRequest, sendDocument } from './explorer.ts';

export function refuseUnknownRoutes(
  app: FastifyInstance,
  { anonymousPacer, explorer }: Pick<Services, 'anonymousPacer' | 'explorer'>,
): void {
  const paths = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
    for (const name of [method].flat()) known.methods.add(name);
    paths.set(url, known);
  });

  const page = explorer?.get('index.html');

  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    await anonymousPacer.wait(reply.raw);
    const path = pathOf(request);
    const known = paths.get(path) ?? [...paths.values()].find(({ pattern }) => pattern.test(path));
    if (known === undefined && page !== undefined && isPageRequest(request)) {
      return sendDocument(request, reply.code(404), page);
    }
    if (known === undefined) throw notFound('Unknown path: /openapi.json lists those of this API');
    const allow = [...known.methods].join(', ');
    reply.header('allow', allow);
    throw new HttpError(405, `This path supports ${allow} only`);
  };
  // This hook runs before any error of the body.
  app.addHook('onRequest', (request, reply, done) => {
    // GET /v1/transactions/acceptance is a wrong method, and no transaction with the id `acceptance`.
    const isMistaken = Object.keys(request.params as object).length > 0 && paths.has(pathOf(request));
    if (request.is404 || isMistaken) return refuse(request, reply);
    done();
    return undefined;
  });
  app.setNotFoundHandler(refuse);
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`);
}
