import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

/**
 * Takes the script out of the plugin, whose page has inline scripts. The package of the script
 * alone has 270 dependencies, which are within it. The published package has the script itself
 * (release/pack.ts).
 */
export async function readScalar(): Promise<string> {
  const app = fastify();
  await app.register(scalar, { routePrefix: '/', configuration: { url: '/' } });
  const { body } = await app.inject('/js/scalar.js');
  await app.close();
  return body;
}
