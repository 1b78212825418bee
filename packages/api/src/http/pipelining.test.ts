import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { interceptRequests } from './intercept-requests.ts';
import { serveOneAtATime } from './pipelining.ts';

/** More than the kernel takes for a client that does not read. */
const LARGE = Buffer.alloc(16 * 2 ** 20, 'a');

let app: FastifyInstance;
let begun: string[];
let socket: Socket;

beforeEach(async () => {
  begun = [];
  app = Fastify();
  app.get('/:name', (request, reply) => {
    const { name } = request.params as { name: string };
    begun.push(name);
    reply.send(name === 'large' ? LARGE : name);
  });
  interceptRequests(app.server, serveOneAtATime());
  await app.listen({ port: 0 });
  socket = connect({ port: (app.server.address() as AddressInfo).port });
  socket.on('error', () => {});
});
afterEach(async () => {
  socket.destroy();
  await app.close();
});

const get = (name: string): string => `GET /${name} HTTP/1.1\r\nhost: x\r\n\r\n`;

it('serves a request after the response before it has been read', async () => {
  socket.write(`${get('large')}${get('b')}${get('c')}`);
  await expect.poll(() => begun).toEqual(['large']);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(begun).toEqual(['large']);

  let text = '';
  socket.on('data', (data) => {
    text = (text + data.toString('latin1')).slice(-1000);
  });
  await expect.poll(() => text.endsWith('\r\n\r\nc')).toBe(true);
  expect(begun).toEqual(['large', 'b', 'c']);
  socket.write(get('d'));
  await expect.poll(() => begun.at(-1)).toBe('d');
});

it('closes a connection with too many waiting requests, and serves none of them', async () => {
  socket.write(`${get('large')}${get('b').repeat(33)}`);
  socket.resume();
  await once(socket, 'close');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(begun).toEqual(['large']);
});

it('allows thirty-two waiting requests', async () => {
  socket.write(`${get('large')}${get('b').repeat(32)}`);
  socket.resume();
  await expect.poll(() => begun.length).toBe(33);
});
