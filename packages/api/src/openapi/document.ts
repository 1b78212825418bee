/** The OpenAPI 3.1 document of the API from its routes and their schemas. */
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { OpenApiDocument } from '../docs/with-examples.ts';
import { responseComponents } from './errors.ts';
import { headerComponents, parameterComponents } from './headers.ts';
import { info, tags } from './info.ts';
import { describeRoute } from './route.ts';
import { describeComponents } from './schemas.ts';

/** Fills with every route that is registered from here on. */
export function collectRoutes(app: FastifyInstance): readonly RouteOptions[] {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    // Every GET has a HEAD of its own, which goes without saying.
    if (route.method !== 'HEAD') routes.push(route);
  });
  return routes;
}

/** Of all routes that are not hidden. */
export function describeApi(routes: readonly RouteOptions[]): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    if (route.schema?.hide === true) continue;
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [String(route.method).toLowerCase()]: describeRoute(route) };
  }
  const document = {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags,
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A key that the operator made' },
      },
      parameters: parameterComponents,
      headers: headerComponents,
      responses: responseComponents,
      schemas: describeComponents(),
    },
  };
  return document;
}
