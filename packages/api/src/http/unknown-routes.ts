/** Paths that do not exist (404), and methods that a path does not have (405): neither asks for a key, since neither costs anything. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../services.ts';
import { HttpError, notFound } from './errors.ts';

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
    if (known === undefined) throw notFound('There is nothing at this path');
    const allow = [...known.methods].join(', ');
    reply.header('allow', allow);
    throw new HttpError(405, `This path answers ${allow} only`);
  };
  // Before anything is said of a body that nobody wants.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404 || isMistaken(request)) await refuse(request, reply);
  });
  app.setNotFoundHandler(refuse);

  /** A path that is written out is no parameter of another: GET /v1/transactions/acceptance asks for no transaction of that name. */
  function isMistaken(request: FastifyRequest): boolean {
    return paths.has(pathOf(request)) && request.routeOptions.url?.includes(':') === true;
  }
}

function pathOf({ url }: FastifyRequest): string {
  const [path = ''] = url.split('?', 1);
  return path;
}

/** `/v1/rpc/getBalanceByAddress/:address` as a pattern of whole paths. */
function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`);
}
