/**
 * Limits the time until a response is ready. Fastify's `handlerTimeout` also counts the time in which a client reads a streamed response, and
 * would cut off slow clients.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unavailable } from './errors.ts';

const RETRY_AFTER_SECONDS = 5;

interface Deadline {
  timer: NodeJS.Timeout;
  hasPassed: boolean;
  hasResponse: boolean;
}

/** Responds with a 503 if no response is ready after `limitMs`. */
export function limitResponseTime(app: FastifyInstance, limitMs: number): void {
  const deadlines = new WeakMap<FastifyRequest, Deadline>();

  app.addHook('onRequest', (request, reply, done) => {
    const timer = setTimeout(() => {
      deadline.hasPassed = true;
      reply.send(unavailable(`The response was not ready after ${limitMs / 1000} seconds`, RETRY_AFTER_SECONDS));
    }, limitMs);
    const deadline: Deadline = { timer, hasPassed: false, hasResponse: false };
    deadlines.set(request, deadline);
    done();
  });

  app.addHook('onSend', (request, _reply, payload, done) => {
    const deadline = deadlines.get(request);
    if (deadline !== undefined) {
      clearTimeout(deadline.timer);
      // A response that was still being serialized at the deadline is dropped: the 503 has been sent.
      if (deadline.hasPassed && deadline.hasResponse) return;
      deadline.hasResponse = true;
    }
    done(null, payload);
  });
}
