/**
 * Webhooks of many keys whose receivers do everything but respond, and whose names no name server
 * knows. Each webhook is registered again after a while, since a failing one is tried less and less
 * often. The outcomes are connections by kind of receiver, queries of names, and statuses.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { sleep } from '@kasgres/runtime';
import { type Attack, type Attacker, requires } from './attack.ts';

const KEYS = 10;
/** As many as a key may have. */
const WEBHOOKS_PER_KEY = 20;
const LIFE_MS = 30_000;
const TEST_EVERY_MS = 10_000;
const BYTE_EVERY_MS = 100;
const INTERIM_EVERY_MS = 10;
const NAMES = 'names without a response';

/** How each receiver treats a connection, once it has received the beginning of a request. */
const RECEIVERS: Readonly<Record<string, (socket: Socket) => Promise<void> | void>> = {
  '101': (socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n'),
  'interim responses without end': async (socket) => {
    while (socket.writable) {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(3));
      await sleep(INTERIM_EVERY_MS);
    }
  },
  'headers byte by byte': async (socket) => {
    for (const byte of `HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(10_000)}`) {
      if (!socket.writable) return;
      socket.write(byte);
      await sleep(BYTE_EVERY_MS);
    }
  },
  'body byte by byte': async (socket) => {
    socket.write('HTTP/1.1 500 Error\r\nContent-Length: 100000\r\n\r\n');
    while (socket.writable) {
      socket.write('a');
      await sleep(BYTE_EVERY_MS);
    }
  },
  'half-closed connections': (socket) => void socket.end(),
  silence: () => undefined,
};
const KINDS = [...Object.keys(RECEIVERS), NAMES];

async function startReceiver(attacker: Attacker, kind: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      attacker.count(kind);
      void RECEIVERS[kind]?.(socket);
    });
    socket.on('close', () => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

/** @param body names the receiver and what it gets; `id` is undefined if that is refused */
export async function createWebhook(
  { options: { url } }: Attacker,
  key: string,
  body: object,
): Promise<{ status: number; id: string | undefined }> {
  const response = await fetch(`${url}/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { id } = (await response.json()) as { id?: string };
  return { status: response.status, id };
}

/** Sends a request without a body. Returns the status. */
export async function changeWebhook(
  { options: { url } }: Attacker,
  key: string,
  method: 'POST' | 'DELETE',
  path: string,
): Promise<number> {
  const response = await fetch(`${url}/v1/webhooks/${path}`, { method, headers: { 'x-api-key': key } });
  await response.arrayBuffer();
  return response.status;
}

async function renewWebhook(attacker: Attacker, key: string, url: string): Promise<void> {
  while (!attacker.isOver) {
    const addresses = attacker.options.addresses.slice(0, 100);
    const { status, id } = await createWebhook(attacker, key, { url, addresses, confirmations: 3 });
    attacker.count(status);
    if (id === undefined) {
      await attacker.pause(TEST_EVERY_MS);
      continue;
    }
    for (let waited = 0; waited < LIFE_MS && !attacker.isOver; waited += TEST_EVERY_MS) {
      attacker.count(await changeWebhook(attacker, key, 'POST', `${id}/test`));
      await attacker.pause(TEST_EVERY_MS);
    }
    attacker.count(await changeWebhook(attacker, key, 'DELETE', id));
  }
}

async function registerReceivers(attacker: Attacker): Promise<void> {
  const names = createSocket('udp4').on('message', () => attacker.count(NAMES));
  names.bind(attacker.options.nameServerPort, '127.0.0.1');
  await once(names, 'listening');
  const servers = await Promise.all(Object.keys(RECEIVERS).map((kind) => startReceiver(attacker, kind)));
  const urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await Promise.all(
    attacker.keys.flatMap((key, keyIndex) =>
      Array.from({ length: WEBHOOKS_PER_KEY }, async (_, index) => {
        const url = urls[index % KINDS.length] ?? `https://name-${keyIndex}-${index}.example/`;
        await attacker.retry(() => renewWebhook(attacker, key, url));
      }),
    ),
  );
  for (const server of servers) server.close();
  names.close();
}

export const WEBHOOKS: readonly Attack[] = [
  { name: 'webhooks without a response', keys: KEYS, run: registerReceivers, findFault: requires(...KINDS) },
];
