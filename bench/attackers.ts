/**
 * Sends every kind of abusive traffic to one API at once until the parent's deadline, then prints how many requests of each kind were
 * sent and which statuses came back. A separate process, so that it does not slow down the legitimate client of attacks.ts.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { sleep } from '@kasgres/runtime';
import { flood, type FloodRequest } from '../test/api/flood-client.ts';

export interface AttackOptions {
  url: string;
  metricsUrl: string;
  /** An API that serves HTTPS. */
  tlsUrl: string;
  /** Valid keys of clients that abuse them, one for each kind of attack that needs one. */
  keys: Record<'worst' | 'hostile' | 'unread', string>;
  /** Addresses with a history. */
  addresses: string[];
  /** The first block of the index. */
  firstBlock: string;
  seconds: number;
}

const options = JSON.parse(process.argv[2] ?? '') as AttackOptions;
const endsAt = performance.now() + options.seconds * 1000;
const counts: Record<string, Record<string, number>> = {};

/** Longer than the API waits for a client that does not read. */
const UNREAD_MS = 45_000;

const isOver = (): boolean => performance.now() >= endsAt;

function count(attack: string, outcome: string | number): void {
  const outcomes = (counts[attack] ??= {});
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}

/** Keeps `outstanding` requests in flight. Without a pause, immediate rejections would make the attacker the bottleneck of two cores. */
async function floodWith(attack: string, outstanding: number, requests: FloodRequest[]): Promise<void> {
  const durationMs = options.seconds * 1_000;
  counts[attack] = await flood({ url: options.url, requests, outstanding, durationMs, pauseMs: 50 });
}

/** Opens sockets, and keeps `outstanding` of them open as long as the server lets them; what is sent to them is read, or only after a time. */
async function holdSockets(
  attack: string,
  outstanding: number,
  url: string,
  begin: (socket: Socket) => void,
  readsAfterMs?: number,
): Promise<void> {
  const { hostname, port } = new URL(url);
  await Promise.all(
    Array.from({ length: outstanding }, async () => {
      while (!isOver()) {
        const socket = connect({ host: hostname, port: Number(port) });
        socket.on('error', () => undefined);
        socket.once('connect', () => begin(socket));
        const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
        if (readsAfterMs !== undefined) await Promise.race([sleep(readsAfterMs), untilOver()]);
        // A socket that is not read does not notice that it was closed.
        socket.resume();
        await Promise.race([closed, untilOver()]);
        count(attack, socket.destroyed ? 'closed by the server' : 'held to the end');
        socket.destroy();
        await sleep(200);
      }
    }),
  );
}

const untilOver = (): Promise<void> => sleep(Math.max(0, endsAt - performance.now()));

const repeat = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));
const MEGABYTE = 1_000_000;
const manyInputs = `{"transaction":{"inputs":[${repeat('{},', MEGABYTE - 100)}{}]}}`;
const manyUnknownFields = `{${Array.from({ length: 90_000 }, (_, index) => `"f${index}":0`).join(',')}}`;
const deeplyNested = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
const HOSTILE: FloodRequest[] = [
  { method: 'POST', path: '/v1/rpc/submitTransaction', body: manyInputs },
  {
    method: 'POST',
    path: '/v1/rpc/submitBlock',
    body: `{"block":{"transactions":[${repeat('{},', MEGABYTE - 100)}{}]}}`,
  },
  { method: 'POST', path: '/v1/transactions', body: manyUnknownFields },
  {
    method: 'POST',
    path: '/v1/rpc/getBalancesByAddresses',
    body: `{"addresses":[${repeat('"a",', MEGABYTE - 100)}"a"]}`,
  },
  { method: 'POST', path: '/v1/rpc/getBlock', body: deeplyNested },
];
const manyAddresses = JSON.stringify({ addresses: options.addresses.slice(0, 1000) });
const WORST: FloodRequest[] = [
  { method: 'POST', path: '/v1/rpc/getUtxosByAddresses', body: manyAddresses },
  { method: 'POST', path: '/v1/rpc/getBalancesByAddresses', body: manyAddresses },
  {
    method: 'POST',
    path: '/v1/rpc/getVirtualChainFromBlock',
    body: JSON.stringify({ startHash: options.firstBlock, includeAcceptedTransactionIds: true }),
  },
  {
    method: 'POST',
    path: '/v1/rpc/getBlocks',
    body: JSON.stringify({ lowHash: options.firstBlock, includeBlocks: true, includeTransactions: true }),
  },
];
const withKey = (key: string, requests: FloodRequest[]): FloodRequest[] =>
  requests.map((request) => ({ ...request, headers: { 'x-api-key': key } }));
const { keys } = options;
const page = await (await fetch(new URL('/docs', options.url))).text();
const bundle = /\/docs\/static\/scalar[^"]+/.exec(page)?.[0] ?? '/docs';

await Promise.all([
  floodWith('hostile bodies', 4, withKey(keys.hostile, HOSTILE)),
  floodWith('status without a key', 300, [{ path: '/v1/status' }]),
  floodWith('random keys', 300, [{ path: '/v1/rpc/getSink', withUnknownKey: true }]),
  floodWith('malformed keys', 100, withKey(randomBytes(16).toString('hex'), [{ path: '/v1/rpc/getSink' }])),
  floodWith('worst requests of one key', 300, withKey(keys.worst, WORST)),
  floodWith('long unknown paths', 20, withKey(keys.hostile, [{ path: `/${'x'.repeat(8_000)}` }])),
  floodWith('docs', 20, [{ path: bundle, headers: { 'accept-encoding': 'br' } }]),
  holdSockets('malformed target on the metrics port', 2, options.metricsUrl, (socket) => {
    socket.write('GET // HTTP/1.1\r\nHost: a\r\n\r\n');
    setTimeout(() => socket.end(), 500);
  }),
  holdSockets('TLS handshakes that never complete', 100, options.tlsUrl, () => undefined),
  holdSockets('requests that never end', 100, options.url, (socket) =>
    socket.write('GET /v1/status HTTP/1.1\r\nHost:'),
  ),
  holdSockets(
    'responses that nobody reads',
    60,
    options.url,
    (socket) => {
      const body = WORST[3]?.body ?? '';
      const head = `POST /v1/rpc/getBlocks HTTP/1.1\r\nHost: a\r\nx-api-key: ${options.keys.unread}\r\ncontent-type: application/json\r\n`;
      for (let request = 0; request < 8; request += 1)
        socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    },
    UNREAD_MS,
  ),
]);
console.log(JSON.stringify(counts));
