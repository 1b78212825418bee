/**
 * Limits the time until a response is ready. Fastify's `handlerTimeout` also counts the time in which a client reads a streamed response, and
 * would cut off slow clients.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Deadline, Deadlines } from '../deadlines.ts';
import { unavailable } from './errors.ts';

const RETRY_AFTER_SECONDS = 5;

declare module 'fastify' {
  interface FastifyReply {
    /** Number of responses that reached `onSend`. After the 503 of the deadline, a later one is dropped. */
    responses: number;
    deadline: Deadline<FastifyReply> | null;
    isLate: boolean;
  }
}

/** Responds with a 503 if no response is ready after `limitMs`. */
export function limitResponseTime(app: FastifyInstance, limitMs: number): void {
  const deadlines = new Deadlines<FastifyReply>(limitMs, (reply) => {
    // A stream has begun.
    if (reply.sent) return;
    reply.isLate = true;
    reply.send(unavailable(`The response was not ready after ${limitMs / 1000} seconds`, RETRY_AFTER_SECONDS));
  });
  app.decorateReply('responses', 0);
  app.decorateReply('deadline', null);
  app.decorateReply('isLate', false);

  app.addHook('onRequest', (_request, reply, done) => {
    reply.deadline = deadlines.add(reply);
    done();
  });

  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.deadline !== null) deadlines.remove(reply.deadline);
    // A response that was still being serialized at the deadline is dropped: the 503 has been sent.
    if (reply.isLate && reply.responses > 0) return;
    reply.responses += 1;
    done(null, payload);
  });
}
