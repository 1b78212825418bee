/** /rest: a drop-in for kaspa-rest-server v2.3, so that pages which were made for it need only another base URL. */
import { type ApiPlugin, hiddenOperation } from '../openapi/route.ts';
import { addressRoutes } from './addresses.ts';
import { blockRoutes } from './blocks.ts';
import type { Call } from './call.ts';
import { describeRestServer } from './document.ts';
import { infoRoutes } from './info.ts';
import { transactionRoutes } from './transactions.ts';

const COST = 0.1;

/** Takes the last value of a repeated parameter, as FastAPI does. */
const toQuery = (query: object): Call['query'] =>
  Object.fromEntries(
    Object.entries(query as Record<string, string | string[]>).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.at(-1) : value,
    ]),
  );

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
        handler: (request, reply) =>
          handle({
            services,
            request,
            reply,
            params: request.params as Record<string, string>,
            query: toQuery(request.query as object),
          }),
      });
    }
  }
};
