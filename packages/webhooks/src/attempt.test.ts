import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { attempt, type Outcome } from './attempt.ts';
import { parseAllowed } from './targets.ts';

const TOTAL_MS = 2000;

/** Sends one delivery to a receiver that does as it likes with the connection. */
async function attemptTo(receive: (socket: Socket) => void, signal = new AbortController().signal): Promise<Outcome> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    // The request has arrived.
    socket.once('data', () => receive(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/`;
  const outcome = await attempt({ url, headers: {}, body: '{}', allowed: parseAllowed('127.0.0.1'), signal }, TOTAL_MS);
  // The connection does not stay.
  await vi.waitFor(() =>
    expect([...sockets].every(({ closed, readyState }) => closed || readyState !== 'open')).toBe(true),
  );
  return outcome;
}

const repeatedly = (socket: Socket, text: string, everyMs: number): void => {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once('close', () => clearInterval(timer));
};

describe('an attempt ends, regardless of what the receiver does', () => {
  test('a 101 is a refusal', async () => {
    const outcome = await attemptTo((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    );
    expect(outcome).toMatchObject({ statusCode: 101, error: 'the receiver responded 101' });
    expect(outcome.latencyMs).toBeLessThan(1800);
  });

  test('so is a 101 without an upgrade', async () => {
    const outcome = await attemptTo((socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
    expect(outcome.error).not.toBeNull();
    expect(outcome.latencyMs).toBeLessThan(1800);
  });

  test('a flood of interim responses is cut off', async () => {
    const outcome = await attemptTo((socket) => repeatedly(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(20), 5));
    expect(outcome).toMatchObject({ statusCode: null, error: 'the receiver sends interim responses only' });
  });

  test.each([
    ['closes', (socket: Socket) => socket.destroy()],
    ['closes its half', (socket: Socket) => socket.end()],
    ['closes its half within the headers', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
    ['sends headers without end', (socket: Socket) => repeatedly(socket, `x: ${'y'.repeat(4000)}\r\n`, 1)],
  ])('a receiver that %s has not confirmed', async (_, receive) => {
    const outcome = await attemptTo(receive);
    expect(outcome).toMatchObject({ statusCode: null, error: expect.any(String) as string });
    expect(outcome.latencyMs).toBeLessThan(1800);
  });

  test.each([
    ['says nothing', () => undefined],
    ['sends headers byte by byte', (socket: Socket) => repeatedly(socket, 'H', 50)],
    [
      'sends an interim response now and then',
      (socket: Socket) => repeatedly(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 300),
    ],
  ])('a receiver that %s has until the deadline', async (_, receive) => {
    const outcome = await attemptTo((socket) => {
      if (_ === 'sends headers byte by byte') socket.write('HTTP/1.1 200 OK\r\nx: ');
      receive(socket);
    });
    expect(outcome).toMatchObject({ statusCode: null, error: 'no response within 2 seconds' });
    expect(outcome.latencyMs).toBeGreaterThan(1900);
    expect(outcome.latencyMs).toBeLessThan(4000);
  });

  test('a status counts although its body does not end', async () => {
    const outcome = await attemptTo((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4000\r\n\r\n');
      repeatedly(socket, 'x', 100);
    });
    expect(outcome).toMatchObject({ statusCode: 200, error: null });
  });

  test('it ends at once when the program stops', async () => {
    const stop = new AbortController();
    const attempting = attemptTo(() => stop.abort(), stop.signal);
    expect(await Promise.race([attempting, sleep(3000)])).toMatchObject({ statusCode: null });
  });
});
