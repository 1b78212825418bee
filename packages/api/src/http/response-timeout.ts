/**
 * Limits the time until a response is ready. Fastify's `handlerTimeout` also counts the time in
 * which a client reads a streamed response, and would cut off slow clients.
 */
import { type Deadline, Deadlines, unavailable } from '@kasgres/reads';
import type { FastifyInstance, FastifyReply } from 'fastify';

const RETRY_AFTER_SECONDS = 5;

declare module 'fastify' {
  interface FastifyReply {
    deadline: Deadline<FastifyReply> | null;
    isLate: boolean;
    /**
     * Whether a response has reached `onSend`. After the 503 of the deadline, a later one is
     * dropped.
     */
    hasResponse: boolean;
  }
}

export interface ResponseTimeouts {
  begin: (reply: FastifyReply) => void;
  /**
   * Returns false for a response that was still being serialized at the deadline: the 503 has been
   * sent.
   */
  end: (reply: FastifyReply) => boolean;
}

/** Responds with a 503 if no response is ready `limitMs` after `begin`. */
export function limitResponseTime(app: FastifyInstance, limitMs: number): ResponseTimeouts {
  const deadlines = new Deadlines<FastifyReply>(limitMs, (reply) => {
    // A stream has begun.
    if (reply.sent) return;
    reply.isLate = true;
    reply.send(unavailable(`The response was not ready after ${limitMs / 1000} seconds`, RETRY_AFTER_SECONDS));
  });
  app.decorateReply('deadline', null);
  app.decorateReply('isLate', false);
  app.decorateReply('hasResponse', false);

  return {
    begin: (reply) => {
      reply.deadline = deadlines.add(reply);
    },
    end: (reply) => {
      if (reply.deadline !== null) deadlines.remove(reply.deadline);
      if (reply.isLate && reply.hasResponse) return false;
      reply.hasResponse = true;
      return true;
    },
  };
}
