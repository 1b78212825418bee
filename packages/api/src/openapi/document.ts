/** openapi.json from the routes and their schemas: generated, committed at the root, checked for drift. */
import Fastify, { type RouteOptions } from 'fastify';
import { api } from '../app.ts';
import type { Services } from '../services.ts';
import { describeRoute } from './route.ts';
import { describeComponents } from './schemas.ts';

/** The OpenAPI 3.1 document of the API. Nothing is opened: the routes are only listed. */
export async function describeApi(): Promise<object> {
  const paths: Record<string, object> = {};
  for (const route of await listRoutes()) {
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [String(route.method).toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Kasgres',
      description: 'Data of the Kaspa blockDAG from Postgres, and some calls of its node.',
      version: '1.0',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    security: [{ apiKey: [] }],
    tags: ['Address', 'Block', 'Transaction', 'Token', 'Node RPC Proxy', 'Status'].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      schemas: describeComponents(),
    },
  };
}

async function listRoutes(): Promise<RouteOptions[]> {
  const routes: RouteOptions[] = [];
  const app = Fastify({ exposeHeadRoutes: false });
  app.addHook('onRoute', (route) => {
    routes.push(route);
  });
  // Routes touch the services only when they answer.
  await app.register(api, {} as Services);
  await app.ready();
  await app.close();
  return routes;
}
