/** Requests log with their id, by a logger that is made when it is first used. */
import Fastify from 'fastify';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { LazyLogger } from './request-logger.ts';

it('adds the id of the request to each of its lines, and makes no logger without a line', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  let created = 0;
  const create = logger.child.bind(logger);
  Object.assign(logger, {
    child: (...given: Parameters<typeof create>) => {
      created += 1;
      return create(...given);
    },
  });
  const app = Fastify({
    loggerInstance: new LazyLogger(() => logger),
    disableRequestLogging: true,
    genReqId: () => 'the id',
  });
  app.get('/quiet', (_request, reply) => void reply.send('nothing is logged'));
  app.get('/logs', (request, reply) => {
    request.log.info({ rows: 1 }, 'first');
    request.log.warn('second');
    reply.send('two lines');
  });
  await app.inject('/quiet');
  expect([created, lines.length]).toEqual([0, 0]);
  await app.inject('/logs');
  // That of the server, and that of the second request.
  expect(created).toBe(2);
  expect(lines).toMatchObject([
    { reqId: 'the id', rows: 1, msg: 'first' },
    { reqId: 'the id', msg: 'second' },
  ]);
});
