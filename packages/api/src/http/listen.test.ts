import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import Fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { limitConnections } from './connections.ts';
import { listen } from './listen.ts';

async function serve() {
  // Like the server, it serves requests that arrive while it closes.
  const app = Fastify({ return503OnClosing: false });
  limitConnections(app, 1000);
  const { promise: held, resolve: release } = Promise.withResolvers<string>();
  app.get('/', async () => 'ok');
  const counts = { held: 0 };
  app.get('/held', async () => {
    counts.held += 1;
    return held;
  });
  await listen(app, { host: '127.0.0.1', port: 0, sockets: 16 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const statusOf = async (path: string): Promise<number | undefined> => {
    const [response] = (await once(send({ port, path, agent: false }).end(), 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  };
  return { app, port, statusOf, release, counts };
}

it.runIf(process.platform === 'linux')('accepts many connections in few turns of a busy event loop', async () => {
  const { app, port } = await serve();
  const sockets = Array.from({ length: 320 }, () => connect({ port, host: '127.0.0.1' }));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  let accepted = 0;
  app.server.on('connection', () => (accepted += 1));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  let turns = 0;
  // One socket accepts one connection in each turn.
  while (accepted < sockets.length && turns < sockets.length) {
    await new Promise((resolve) => void setImmediate(resolve));
    turns += 1;
  }
  expect(accepted).toBe(sockets.length);
  expect(turns).toBeLessThan(sockets.length / 2);
});

it('serves every connection, and completes what is in progress before it closes', async () => {
  const { app, statusOf, release, counts } = await serve();
  const statuses = await Promise.all(Array.from({ length: 64 }, () => statusOf('/')));
  expect(new Set(statuses)).toEqual(new Set([200]));
  const inProgress = Array.from({ length: 32 }, () => statusOf('/held'));
  await expect.poll(() => counts.held).toBe(32);
  const closed = app.close();
  release('released');
  expect(new Set(await Promise.all(inProgress))).toEqual(new Set([200]));
  await closed;
  await expect(statusOf('/')).rejects.toThrow('ECONNREFUSED');
});

it('does not share the port of another process', async () => {
  const { port } = await serve();
  const other = Fastify();
  await expect(listen(other, { host: '127.0.0.1', port, sockets: 16 })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
