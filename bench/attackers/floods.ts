/** Floods of requests, and connections that are held. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { sleep } from '@kasgres/runtime';
import type { FloodRequest } from '../../test/api/flood-client.ts';
import { type Attack, type Attacker, type AttackOptions, RESPONSE_MS, withKey } from './attack.ts';

/** Longer than the API waits for a client that does not read. */
const UNREAD_MS = 45_000;
const MEGABYTE = 1_000_000;

const repeat = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));

function hostileBodies(): FloodRequest[] {
  const manyInputs = `{"transaction":{"inputs":[${repeat('{},', MEGABYTE - 100)}{}]}}`;
  const manyTransactions = `{"block":{"transactions":[${repeat('{},', MEGABYTE - 100)}{}]}}`;
  const manyUnknownFields = `{${Array.from({ length: 90_000 }, (_, index) => `"f${index}":0`).join(',')}}`;
  const manyAddresses = `{"addresses":[${repeat('"a",', MEGABYTE - 100)}"a"]}`;
  const deeplyNested = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
  return [
    { method: 'POST', path: '/v1/rpc/submitTransaction', body: manyInputs },
    { method: 'POST', path: '/v1/rpc/submitBlock', body: manyTransactions },
    { method: 'POST', path: '/v1/transactions', body: manyUnknownFields },
    { method: 'POST', path: '/v1/rpc/getBalancesByAddresses', body: manyAddresses },
    { method: 'POST', path: '/v1/rpc/getBlock', body: deeplyNested },
  ];
}

const allBlocks = ({ firstBlock }: AttackOptions): string =>
  JSON.stringify({ lowHash: firstBlock, includeBlocks: true, includeTransactions: true });

function worstRequests(options: AttackOptions): FloodRequest[] {
  const manyAddresses = JSON.stringify({ addresses: options.addresses.slice(0, 1000) });
  const wholeChain = JSON.stringify({ startHash: options.firstBlock, includeAcceptedTransactionIds: true });
  return [
    { method: 'POST', path: '/v1/rpc/getUtxosByAddresses', body: manyAddresses },
    { method: 'POST', path: '/v1/rpc/getBalancesByAddresses', body: manyAddresses },
    { method: 'POST', path: '/v1/rpc/getVirtualChainFromBlock', body: wholeChain },
    { method: 'POST', path: '/v1/rpc/getBlocks', body: allBlocks(options) },
  ];
}

/** The longest pages that kaspa-rest-server has, of the busiest addresses. */
function longestRestPages({ addresses }: AttackOptions): FloodRequest[] {
  const query = 'limit=500&resolve_previous_outpoints=full';
  return addresses
    .slice(0, 4)
    .map((address) => ({ path: `/rest/addresses/${address}/full-transactions-page?${query}` }));
}

/**
 * Reads from a separate address: the turns of a shared one go to the other attackers without a key.
 */
async function readDocs(attacker: Attacker): Promise<void> {
  const headers = { 'x-forwarded-for': '203.0.113.1' };
  const page = await attacker.retry(async () => {
    const signal = AbortSignal.timeout(RESPONSE_MS);
    return await (await fetch(new URL('/docs', attacker.options.url), { headers, signal })).text();
  });
  const bundle = /\/docs\/static\/scalar[^"]+/.exec(page ?? '')?.[0] ?? '/docs';
  await attacker.flood(20, [{ path: bundle, headers: { ...headers, 'accept-encoding': 'br' } }]);
}

/** Histories of the busiest addresses, the longest response that there is. */
async function readHistories(attacker: Attacker): Promise<void> {
  const { addresses } = attacker.options;
  await attacker.repeat(16, async (index) => {
    const address = addresses[index % 4] ?? '';
    const headers = { accept: 'text/csv', 'x-api-key': attacker.key };
    return await attacker.send(`/v1/addresses/${address}/transactions`, headers);
  });
}

/**
 * Opens sockets, and keeps `outstanding` of them open as long as the server lets them; what is sent
 * to them is read, or only after a time.
 */
async function holdSockets(
  attacker: Attacker,
  outstanding: number,
  url: string,
  begin: (socket: Socket) => void,
  readsAfterMs?: number,
): Promise<void> {
  const { hostname, port } = new URL(url);
  await Promise.all(
    Array.from({ length: outstanding }, async () => {
      while (!attacker.isOver) {
        const socket = connect({ host: hostname, port: Number(port) });
        socket.on('error', () => undefined);
        socket.once('connect', () => begin(socket));
        const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
        if (readsAfterMs !== undefined) await attacker.pause(readsAfterMs);
        // A socket that is not read does not notice that it was closed.
        socket.resume();
        await Promise.race([closed, attacker.untilOver]);
        attacker.count(socket.destroyed ? 'closed by the server' : 'held to the end');
        socket.destroy();
        await sleep(200);
      }
    }),
  );
}

async function leaveUnread(attacker: Attacker): Promise<void> {
  const body = allBlocks(attacker.options);
  const head = `POST /v1/rpc/getBlocks HTTP/1.1\r\nHost: a\r\nx-api-key: ${attacker.key}\r\ncontent-type: application/json\r\n`;
  const send = (socket: Socket): void => {
    for (let request = 0; request < 8; request += 1)
      socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
  };
  await holdSockets(attacker, 60, attacker.options.url, send, UNREAD_MS);
}

export const FLOODS: readonly Attack[] = [
  { name: 'hostile bodies', keys: 1, run: (attacker) => attacker.flood(4, withKey(attacker.key, hostileBodies())) },
  { name: 'status without a key', run: (attacker) => attacker.flood(300, [{ path: '/v1/status' }]) },
  {
    name: 'random keys',
    run: (attacker) => attacker.flood(300, [{ path: '/v1/rpc/getSink', withUnknownKey: true }]),
  },
  {
    name: 'malformed keys',
    run: (attacker) => attacker.flood(100, withKey(randomBytes(16).toString('hex'), [{ path: '/v1/rpc/getSink' }])),
  },
  {
    name: 'worst requests of one key',
    keys: 1,
    run: (attacker) => attacker.flood(300, withKey(attacker.key, worstRequests(attacker.options))),
  },
  {
    name: 'pages of /rest',
    keys: 1,
    run: (attacker) => attacker.flood(100, withKey(attacker.key, longestRestPages(attacker.options))),
  },
  {
    name: 'long unknown paths',
    keys: 1,
    run: (attacker) => attacker.flood(20, withKey(attacker.key, [{ path: `/${'x'.repeat(8_000)}` }])),
  },
  { name: 'docs', run: readDocs },
  { name: 'histories as CSV', keys: 1, run: readHistories },
  {
    name: 'malformed targets on the metrics port',
    run: (attacker) =>
      holdSockets(attacker, 2, attacker.options.metricsUrl, (socket) => {
        socket.write('GET // HTTP/1.1\r\nHost: a\r\n\r\n');
        setTimeout(() => socket.end(), 500);
      }),
  },
  {
    name: 'unfinished TLS handshakes',
    run: (attacker) => holdSockets(attacker, 100, attacker.options.tlsUrl, () => undefined),
  },
  {
    name: 'unfinished requests',
    run: (attacker) =>
      holdSockets(attacker, 100, attacker.options.url, (socket) => socket.write('GET /v1/status HTTP/1.1\r\nHost:')),
  },
  { name: 'unread responses', keys: 1, run: leaveUnread },
];
