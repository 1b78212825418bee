/** Refuses unknown paths (404) and methods that a path does not have (405). Both cost nothing, and need no key. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../services.ts';
import { HttpError, notFound } from './errors.ts';
import { pathOf } from './request-identity.ts';

interface KnownPath {
  pattern: RegExp;
  methods: Set<string>;
}

export function refuseUnknownRoutes(app: FastifyInstance, { anonymousPacer }: Pick<Services, 'anonymousPacer'>): void {
  const paths = new Map<string, KnownPath>();

  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const name of [method].flat()) known.methods.add(name);
    paths.set(url, known);
  });

  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    await anonymousPacer.wait(reply.raw);
    const path = pathOf(request);
    const known = paths.get(path) ?? [...paths.values()].find(({ pattern }) => pattern.test(path));
    if (known === undefined) throw notFound('Unknown path: /openapi.json lists those of this API');
    const allow = [...known.methods].join(', ');
    reply.header('allow', allow);
    throw new HttpError(405, `This path supports ${allow} only`);
  };
  // This hook runs before any error of the body.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404 || isMistaken(request)) await refuse(request, reply);
  });
  app.setNotFoundHandler(refuse);

  /** GET /v1/transactions/acceptance is a wrong method, and no transaction with the id `acceptance`. */
  function isMistaken(request: FastifyRequest): boolean {
    return paths.has(pathOf(request)) && request.routeOptions.url?.includes(':') === true;
  }
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`);
}
