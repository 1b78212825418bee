/**
 * Refuses unknown paths (404) and methods that a path does not have (405). Both cost nothing, and
 * need no key.
 */
import { HttpError, notFound } from '@kasgres/reads';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from '../http/request-identity.ts';
import type { Services } from '../services.ts';
import { isPageRequest, sendDocument } from './explorer.ts';

export function refuseUnknownRoutes(
  app: FastifyInstance,
  { anonymousPacer, explorer }: Pick<Services, 'anonymousPacer' | 'explorer'>,
): void {
  /** The methods of each path. */
  const paths = new Map<string, Set<string>>();

  app.addHook('onRoute', ({ url, method }) => {
    const methods = paths.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    paths.set(url, methods);
  });

  const methodsOf = (path: string): Set<string> | undefined => {
    const exact = paths.get(path);
    if (exact !== undefined) return exact;
    const segments = path.split('/');
    for (const [url, methods] of paths) if (isPathOf(url.split('/'), segments)) return methods;
    return undefined;
  };

  const page = explorer?.get('index.html');

  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    await anonymousPacer.wait(reply.raw);
    const methods = methodsOf(pathOf(request));
    if (methods === undefined && page !== undefined && isPageRequest(request)) {
      return sendDocument(request, reply.code(404), page);
    }
    if (methods === undefined) throw notFound('Unknown path: /openapi.json lists those of this API');
    const allow = [...methods].join(', ');
    reply.header('allow', allow);
    throw new HttpError(405, `This path supports ${allow} only`);
  };
  // This hook runs before any error of the body.
  app.addHook('onRequest', (request, reply, done) => {
    // GET /v1/transactions/acceptance is a wrong method, and no transaction with the id
    // `acceptance`.
    const isMistaken = Object.keys(request.params as object).length > 0 && paths.has(pathOf(request));
    if (request.is404 || isMistaken) return refuse(request, reply);
    done();
    return undefined;
  });
  app.setNotFoundHandler(refuse);
}

/** Returns whether a path is one of a route, whose parameters are whole segments. */
const isPathOf = (route: readonly string[], path: readonly string[]): boolean =>
  route.length === path.length &&
  route.every((segment, index) => (segment.startsWith(':') ? path[index] !== '' : path[index] === segment));
