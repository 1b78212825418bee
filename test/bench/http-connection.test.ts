import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { encodeRequest, HttpConnection } from '../../bench/http-connection.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('it sends requests one after the other on one connection, and returns status and headers', async () => {
  const ports = new Set<number | undefined>();
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    const seen = `${request.method} ${request.url} ${String(request.headers['x-api-key'])}`;
    const body = 'x'.repeat(200_000);
    request.resume().once('end', () => {
      const length = Number(request.headers['content-length'] ?? 0);
      response.writeHead(length === 0 ? 200 : 404, { 'content-length': body.length, 'x-seen': `${seen} ${length}` });
      response.end(body);
    });
  });
  const connection = new HttpConnection(url);
  const first = await connection.send(encodeRequest(url, 'k', { path: '/a' }));
  const second = await connection.send(encodeRequest(url, 'k', { method: 'POST', path: '/b', body: { é: 1 } }));
  connection.close();
  expect([first.status, second.status]).toEqual([200, 404]);
  expect(first.head).toContain('x-seen: GET /a k 0');
  expect(second.head).toContain('x-seen: POST /b k 8');
  expect(ports.size).toBe(1);
});

test('it rejects a response without content-length, and requests after it', async () => {
  const url = await serve((_, response) => response.write('chunk') && response.end());
  const connection = new HttpConnection(url);
  const request = encodeRequest(url, 'k', { path: '/' });
  await expect(connection.send(request)).rejects.toThrow('no content-length');
  await expect(connection.send(request)).rejects.toThrow('no content-length');
});

test('it rejects if the server closes the connection', async () => {
  const url = await serve((request) => request.socket.destroy());
  await expect(new HttpConnection(url).send(encodeRequest(url, 'k', { path: '/' }))).rejects.toThrow(/clos|reset/i);
});
