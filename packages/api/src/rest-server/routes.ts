/**
 * /rest: a drop-in for kaspa-rest-server v2.3, so that pages which were made for it need only
 * another base URL.
 */
import { badRequest } from '@kasgres/reads';
import { UNKNOWN_FIELD } from '../http/validation.ts';
import { type ApiPlugin, hiddenOperation } from '../openapi/route.ts';
import { addressRoutes } from './addresses.ts';
import { blockRoutes } from './blocks.ts';
import type { Call } from './call.ts';
import { describeRestServer, QUERIES } from './document.ts';
import { infoRoutes } from './info.ts';
import { transactionRoutes } from './transactions.ts';

const COST = 0.1;

/** The routes where kaspa-rest-server refuses unknown parameters. It ignores them elsewhere. */
const STRICT: ReadonlySet<string> = new Set([
  '/addresses/active',
  '/addresses/distribution',
  '/addresses/names',
  '/addresses/top',
  '/addresses/utxos',
  '/addresses/:address/balance/:date',
  '/addresses/:address/full-transactions',
  '/addresses/:address/full-transactions-page',
  '/addresses/:address/name',
  '/addresses/:address/transactions-count',
  '/addresses/:address/utxos',
  '/addresses/:address/utxos/count',
  '/transactions/acceptance',
  '/virtual-chain',
]);

/** Takes the last value of a repeated parameter, as FastAPI does. An empty one is absent. */
const toQuery = (query: object): Call['query'] =>
  Object.fromEntries(
    Object.entries(query as Record<string, string | string[]>)
      .map(([name, value]): [string, string | undefined] => [name, Array.isArray(value) ? value.at(-1) : value])
      .filter(([, value]) => value !== ''),
  );

function requireKnown(path: string, query: object): void {
  const known = QUERIES[path] ?? {};
  const unknown = Object.keys(query).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length > 0) throw badRequest(...unknown.map((name) => ({ path: name, message: UNKNOWN_FIELD })));
}

const routes = [...infoRoutes, ...blockRoutes, ...transactionRoutes, ...addressRoutes];

/** Serves the description of these routes, which are not in openapi.json. It needs no key. */
export const restServerDocument: ApiPlugin = async (app) => {
  let document: object | undefined;
  app.get('/rest/openapi.json', async () => (document ??= describeRestServer(routes)));
};

export const restServerRoutes: ApiPlugin = async (app, services) => {
  for (const { method, path, handle, cost = COST, ...options } of routes) {
    const url = `/rest${path.replace(/\/$/, '')}`;
    const operation = hiddenOperation({ method, url, cost, ...options });
    for (const each of [url, `${url}/`]) {
      app.route({
        method,
        url: each,
        config: { operation },
        schema: { ...(operation.body && { body: operation.body }) },
        handler: async (request, reply) => {
          const query = toQuery(request.query as object);
          if (STRICT.has(path)) requireKnown(path, request.query as object);
          return handle({ services, request, reply, params: request.params as Record<string, string>, query });
        },
      });
    }
  }
};
