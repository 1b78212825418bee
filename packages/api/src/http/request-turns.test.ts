import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyRequest } from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { clientAddresses } from './request-identity.ts';
import { type Kind, RequestTurns, takeTurnsOfRequests, turnOf, ValidKeys } from './request-turns.ts';

const keepBusy = (ms: number): void => {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
};

/** Longer than requests begin at once in a turn of the event loop. */
const BUSY_MS = 10;

async function untilEmpty(turns: RequestTurns): Promise<void> {
  while (turns.isBusy) await turn();
}

it('begins requests at once while the event loop is not busy', async () => {
  const turns = new RequestTurns();
  let begun = 0;
  for (let count = 0; count < 100; count += 1) {
    turns.run('no key', 'one', () => void (begun += 1));
    expect(begun).toBe(count + 1);
    await turn();
  }
});

it('gives half of the turns to valid keys, and lets the callers of each kind take turns', async () => {
  const turns = new RequestTurns();
  const begun: string[] = [];
  const run = (kind: Kind, caller: string): void => turns.run(kind, caller, () => void begun.push(caller));
  turns.run('no key', 'busy', () => keepBusy(BUSY_MS));
  for (let count = 0; count < 3; count += 1) run('no key', 'stranger');
  run('no key', 'other stranger');
  for (let count = 0; count < 3; count += 1) run('valid key', 'key');
  run('valid key', 'other key');
  for (let count = 0; count < 2; count += 1) run('unproven key', 'new key');
  expect(begun).toEqual([]);
  await untilEmpty(turns);
  const rounds = [
    ['key', 'new key', 'other key', 'stranger'],
    ['key', 'new key', 'key', 'other stranger'],
    ['stranger', 'stranger'],
  ];
  expect(begun).toEqual(rounds.flat());
});

it('begins a request of a key soon, however many others wait', async () => {
  const turns = new RequestTurns();
  let others = 0;
  turns.run('no key', 'busy', () => keepBusy(BUSY_MS));
  for (let count = 0; count < 10_000; count += 1) turns.run('no key', `stranger ${count}`, () => void (others += 1));
  const before = await new Promise((resolve) => turns.run('valid key', 'key', () => resolve(others)));
  expect(before).toBeLessThanOrEqual(1);
  await untilEmpty(turns);
  expect(others).toBe(10_000);
});

it('continues what a request has resolved before it begins the next one', async () => {
  const turns = new RequestTurns();
  const seen: string[] = [];
  const request = (name: string): void =>
    turns.run('no key', name, () => {
      seen.push(`${name} begins`);
      void Promise.resolve().then(() => seen.push(`${name} continues`));
    });
  turns.run('no key', 'busy', () => keepBusy(BUSY_MS));
  request('one');
  request('two');
  await untilEmpty(turns);
  await turn();
  expect(seen).toEqual(['one begins', 'one continues', 'two begins', 'two continues']);
});

const requestOf = (key: string, found: Pick<FastifyRequest, 'refusal'> & { id?: bigint }): FastifyRequest =>
  ({
    headers: { 'x-api-key': key },
    apiKey: found.id === undefined ? null : { id: found.id },
    refusal: found.refusal,
  }) as unknown as FastifyRequest;

it('knows the keys that were valid in their latest request', () => {
  const keys = new ValidKeys();
  expect(keys.find('key')).toBeUndefined();
  keys.observe(requestOf('key', { id: 1n, refusal: null }));
  keys.observe(requestOf('wrong', { refusal: 'invalid_key' }));
  expect(keys.find('key')).toMatch(/^[\w+/]{43}=$/);
  expect(keys.find('wrong')).toBeUndefined();
  // A refusal that is not about the key: a path that needs none.
  keys.observe(requestOf('key', { refusal: null }));
  expect(keys.find('key')).toBeDefined();
  keys.observe(requestOf('key', { refusal: 'invalid_key' }));
  expect(keys.find('key')).toBeUndefined();
});

it('forgets the oldest of too many keys', () => {
  const keys = new ValidKeys();
  for (let id = 0n; id <= 10_000n; id += 1n) keys.observe(requestOf(String(id), { id, refusal: null }));
  expect(keys.find('0')).toBeUndefined();
  expect(keys.find('1')).toBeDefined();
  expect(keys.find('10000')).toBeDefined();
});

it.each([
  // Text that the client has added before the address that the proxy saw.
  ['10.0.0.1', 'garbage7, 192.0.2.1', '192.0.2.1'],
  ['10.0.0.1', '192.0.2.77, 192.0.2.1:4711', '192.0.2.1'],
  ['10.0.0.1', '192.0.2.1, 10.0.0.2', '192.0.2.1'],
  ['10.0.0.1', 'garbage', '10.0.0.1'],
  ['10.0.0.1', '2001:db8:0:1::abcd', '2001:db8:0:1::/64'],
  // It is no proxy.
  ['192.0.2.9', '192.0.2.1', '192.0.2.9'],
  ['2001:db8:0:1::5', undefined, '2001:db8:0:1::/64'],
  [undefined, '192.0.2.1', ''],
])('lets the client at %s with x-forwarded-for %j take turns as %s', (remoteAddress, forwarded, expected) => {
  const request = {
    headers: { 'x-forwarded-for': forwarded },
    socket: { remoteAddress },
  } as unknown as IncomingMessage;
  const keys = { find: () => undefined };
  expect(turnOf(request, keys, clientAddresses(['10.0.0.0/8']))).toEqual(['no key', expected]);
});

it('lets one request of a connection wait for its turn, and keeps those after it on the connection', async () => {
  const run = vi.spyOn(RequestTurns.prototype, 'run');
  onTestFinished(() => run.mockRestore());
  const app = Fastify();
  const waiting = Promise.withResolvers<number>();
  app.get('/', (_request, reply) => {
    keepBusy(BUSY_MS);
    reply.send('done');
    // Until then, every request of the packet has arrived.
    setImmediate(() => waiting.resolve(run.mock.calls.length));
  });
  takeTurnsOfRequests(app, new ValidKeys(), undefined);
  await app.listen({ port: 0 });
  onTestFinished(() => app.close());
  const socket = connect({ port: (app.server.address() as AddressInfo).port });
  onTestFinished(() => void socket.destroy());
  socket.resume();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20));
  expect(await waiting.promise).toBeLessThanOrEqual(1);
});
