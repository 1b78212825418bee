/**
 * Limits the time until a response is ready. Fastify's `handlerTimeout` also counts the time in which a client reads a streamed response, and
 * would cut off slow clients.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unavailable } from './errors.ts';

const RETRY_AFTER_SECONDS = 5;

/** Responds with a 503 if no response is ready after `limitMs`. */
export function limitResponseTime(app: FastifyInstance, limitMs: number): void {
  const deadlines = new WeakMap<FastifyRequest, { timer: NodeJS.Timeout; responses: number; hasPassed: boolean }>();

  app.addHook('onRequest', (request, reply, done) => {
    const timer = setTimeout(() => {
      // A stream has begun.
      if (reply.sent) return;
      deadline.hasPassed = true;
      reply.send(unavailable(`The response was not ready after ${limitMs / 1000} seconds`, RETRY_AFTER_SECONDS));
    }, limitMs);
    const deadline = { timer, responses: 0, hasPassed: false };
    deadlines.set(request, deadline);
    done();
  });

  app.addHook('onSend', (request, _reply, payload, done) => {
    const deadline = deadlines.get(request);
    clearTimeout(deadline?.timer);
    // A response that was still being serialized at the deadline is dropped: the 503 has been sent.
    if (deadline?.hasPassed === true && deadline.responses > 0) return;
    if (deadline) deadline.responses += 1;
    done(null, payload);
  });
}
