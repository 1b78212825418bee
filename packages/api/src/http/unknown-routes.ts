/** Paths that do not exist (404), and methods that a path does not have (405): neither asks for a key, since neither costs anything. */
import type { FastifyInstance } from 'fastify';
import { HttpError, notFound } from './errors.ts';

interface KnownPath {
  pattern: RegExp;
  methods: Set<string>;
}

export function refuseUnknownRoutes(app: FastifyInstance): void {
  const paths = new Map<string, KnownPath>();

  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const name of [method].flat()) known.methods.add(name);
    paths.set(url, known);
  });

  app.setNotFoundHandler(async (request, reply) => {
    const [path = ''] = request.url.split('?', 1);
    const known = [...paths.values()].find(({ pattern }) => pattern.test(path));
    if (known === undefined) throw notFound('There is nothing at this path');
    const allow = [...known.methods].join(', ');
    reply.header('allow', allow);
    throw new HttpError(405, `This path answers ${allow} only`);
  });
}

/** `/v1/rpc/getBalanceByAddress/:address` as a pattern of whole paths. */
function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`);
}
