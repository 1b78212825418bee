/**
 * Limits the time until a response is ready. Fastify's `handlerTimeout` limits the time until a streamed response was read as well, and
 * would cut off every client that needs longer than that for a compressed one.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unavailable } from './errors.ts';

const RETRY_AFTER_SECONDS = 5;

interface Deadline {
  timer: NodeJS.Timeout;
  hasPassed: boolean;
  isAnswered: boolean;
}

/** Responds with a 503 where there is no response after this time. The time that a client takes to read it does not count. */
export function limitResponseTime(app: FastifyInstance, limitMs: number): void {
  const deadlines = new WeakMap<FastifyRequest, Deadline>();

  app.addHook('onRequest', (request, reply, done) => {
    const timer = setTimeout(() => {
      deadline.hasPassed = true;
      reply.send(unavailable('The answer took too long', RETRY_AFTER_SECONDS));
    }, limitMs);
    const deadline: Deadline = { timer, hasPassed: false, isAnswered: false };
    deadlines.set(request, deadline);
    done();
  });

  app.addHook('onSend', (request, _reply, payload, done) => {
    const deadline = deadlines.get(request);
    if (deadline !== undefined) {
      clearTimeout(deadline.timer);
      // It was being serialized when its time was over, and the 503 has been sent: it is dropped, since nothing continues it.
      if (deadline.hasPassed && deadline.isAnswered) return;
      deadline.isAnswered = true;
    }
    done(null, payload);
  });
}
