import { once } from 'node:events';
import { Agent, request as send, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import fastifyWebsocket from '@fastify/websocket';
import Fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { limitConnections, roomForConnections } from './connections.ts';

it.each([
  [20_000, 19_691],
  [100, 46],
  [60, 8],
  [52, 4],
])('leaves room for the database and the node within %i open files', (fileLimit, expected) => {
  expect(roomForConnections({ fileLimit, readConnections: 10, nodeConnections: 4 })).toBe(expected);
});

it('refuses a limit of open files that leaves room for no client', () => {
  expect(() => roomForConnections({ fileLimit: 50, readConnections: 10, nodeConnections: 4 })).toThrow('ulimit -n');
  expect(roomForConnections({ fileLimit: Number.POSITIVE_INFINITY, readConnections: 10, nodeConnections: 4 })).toBe(
    Number.POSITIVE_INFINITY,
  );
});

async function serve(limit: number, closeWithinMs?: number) {
  const app = Fastify();
  limitConnections(app, limit, closeWithinMs);
  await app.register(fastifyWebsocket);
  const held = Promise.withResolvers<string>();
  app.get('/', async () => 'ok');
  app.get('/held', async () => held.promise);
  app.get('/socket', { websocket: true }, () => undefined);
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(async () => {
    held.resolve('held');
    await app.close();
  });
  const { port } = app.server.address() as AddressInfo;
  const ask = async (path: string, agent?: Agent) => {
    const sent = send({ port, path, ...(agent && { agent }) });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return text(response);
  };
  const open = async (count: number): Promise<Socket[]> => {
    const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1' }));
    for (const socket of sockets) socket.on('error', () => undefined);
    await Promise.all(sockets.map(async (socket) => once(socket, 'connect')));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    return sockets;
  };
  return { app, ask, open, held };
}

it('serves new clients beside any number of connections that send nothing', async () => {
  const { app, ask, open } = await serve(9);
  await open(90);
  for (let count = 0; count < 20; count += 1) expect(await ask('/')).toBe('ok');
  const connections = await new Promise((resolve) => app.server.getConnections((_error, found) => resolve(found)));
  expect(connections).toBeLessThanOrEqual(9);
});

it('closes connections between two requests for new clients, and none with a request', async () => {
  const { ask, held } = await serve(5);
  const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true }));
  onTestFinished(() => {
    for (const agent of agents) agent.destroy();
  });
  const pending = ask('/held', agents[0]);
  for (const agent of agents.slice(1)) expect(await ask('/', agent)).toBe('ok');
  for (let count = 0; count < 10; count += 1) expect(await ask('/')).toBe('ok');
  held.resolve('held');
  expect(await pending).toBe('held');
});

it('closes without a client that falls silent', async () => {
  const { app, open } = await serve(9, 200);
  const [caller, listener] = (await open(2)) as [Socket, Socket];
  const called = once(app.server, 'request');
  caller.write('GET /held HTTP/1.1\r\nhost: a\r\n\r\n');
  await called;
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key';
  listener.write(`GET /socket HTTP/1.1\r\nhost: a\r\n${upgrade}: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`);
  await once(listener, 'data');
  await app.close();
});
