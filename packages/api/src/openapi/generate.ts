/** openapi.json at the root of the repository is what the API itself serves: generated, committed, checked for drift. */
import Fastify from 'fastify';
import { api } from '../app.ts';
import { Pacer } from '../limits/pacer.ts';
import type { Services } from '../services.ts';

/** Nothing is opened: routes touch the services only when they answer, and this one answers with a pacer alone. */
export async function generateDocument(): Promise<object> {
  const app = Fastify();
  await app.register(api, { anonymousPacer: new Pacer({ perSecond: 1, burst: 1 }) } as Services);
  const answer = await app.inject('/openapi.json');
  await app.close();
  return answer.json<object>();
}
