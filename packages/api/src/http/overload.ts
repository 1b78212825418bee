/** More requests than the database can answer: beyond a line of some length, new ones are sent away at once, and the line stays short. */
import type { Connection } from '@kasgres/database';
import type { FastifyInstance } from 'fastify';
import { unavailable } from './errors.ts';

/** For each connection. They wait for some seconds at most (main.ts), which is time for many short answers. */
const MAX_WAITING_PER_CONNECTION = 50;
const RETRY_AFTER_SECONDS = 1;

export function refuseWhenOverloaded(
  app: FastifyInstance,
  pool: Pick<Connection['pool'], 'waitingCount' | 'options'>,
): void {
  const maxWaiting = pool.options.max * MAX_WAITING_PER_CONNECTION;
  app.addHook('onRequest', async (_request, reply) => {
    if (pool.waitingCount < maxWaiting) return;
    reply.header('x-request-cost-ru', '0');
    throw unavailable('The database is busy', RETRY_AFTER_SECONDS);
  });
}
