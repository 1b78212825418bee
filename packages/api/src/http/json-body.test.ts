import { once } from 'node:events';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { parseJsonBodies } from './json-body.ts';

it('does not wait for the body of a client that has disconnected', async () => {
  const app = Fastify();
  parseJsonBodies(app);
  const leave = new AbortController();
  // As a request that waits for its turn, or for its key to be looked up.
  app.addHook('onRequest', async ({ raw: { socket } }) => {
    const closed = once(socket, 'close');
    leave.abort();
    await closed;
  });
  const errors: string[] = [];
  app.addHook('onError', async (_request, _reply, { message }) => {
    errors.push(message);
  });
  app.post('/', async () => ({}));
  try {
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const headers = { 'content-type': 'application/json' };
    await expect(fetch(url, { method: 'POST', headers, body: '{}', signal: leave.signal })).rejects.toThrow();
    await expect.poll(() => errors).toEqual(['The request body is incomplete']);
  } finally {
    await app.close();
  }
});
