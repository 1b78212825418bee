/**
 * Several nodes in NODE_URL: what comes live from a node keeps coming while any of them responds.
 * Against the real process.
 */
import { TcpProxy } from '@kasgres/database/testing';
import { getNetwork } from '@kasgres/kaspa';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startApi } from '../support/programs.ts';
import { NodeBehindProxy, nodeThatDiffers } from '../support/simulated-dag.ts';
import { ApiClient } from '../support/api-client.ts';
import { openHarness, type Harness } from './harness.ts';

const WAIT = { timeout: 30_000 };

let harness: Harness;
let first: TcpProxy;
let second: TcpProxy;

beforeAll(async () => {
  harness = await openHarness({
    rounds: 40,
    between: async ({ nodeUrl, databaseUrl }) => {
      [first, second] = [await TcpProxy.start(nodeUrl), await TcpProxy.start(nodeUrl)];
      return { nodeUrl: `${first.url}, ${second.url}`, databaseUrl };
    },
  });
  harness.simulatedDag.pay(3);
});
afterAll(async () => {
  await harness?.close();
  first?.stop();
  second?.stop();
});
afterEach(async () => {
  first.pass();
  second.pass();
  await untilServed();
});

const ask = (path: string, body?: object) => harness.api.request(path, body && { body });
const isConnected = async () => (await ask('/v1/status')).json['nodeConnected'];

const POOL = { includeOrphanPool: false, filterTransactionPool: false };
/** Listings of the mempool have a separate stream, and may be a second old. */
const untilServed = async () => {
  for (const path of ['/v1/rpc/getInfo', '/v1/rpc/getMempoolEntries']) {
    await expect.poll(async () => (await ask(path)).status, WAIT).toBe(200);
  }
};

async function expectMempoolAndTemplate(): Promise<void> {
  const mempool = await ask('/v1/rpc/getMempoolEntries');
  expect(mempool.status).toBe(200);
  expect(mempool.json['entries']).toHaveLength(harness.simulatedDag.node.mempoolEntries(POOL).length);
  const { rows } = await harness.database.pool.query<{ address: string }>(
    'select address from scripts where address is not null limit 1',
  );
  const template = await ask('/v1/rpc/getBlockTemplate', { payAddress: rows[0]?.address });
  expect(template.status).toBe(200);
}

test('it fails over when a node stops, and back when the other stops', async () => {
  for (const dying of [first, second]) {
    dying.refuse();
    await untilServed();
    await expectMempoolAndTemplate();
    await expect.poll(isConnected, WAIT).toBe(true);
    dying.pass();
  }
});

test('it fails over when a node stops responding, and sends later requests to the other node first', async () => {
  for (const silent of [first, second]) {
    silent.swallow();
    await untilServed();
    const begun = performance.now();
    await expectMempoolAndTemplate();
    expect(performance.now() - begun).toBeLessThan(4000);
    silent.pass();
  }
});

test('it responds 503 while both nodes are unavailable, until one is back', async () => {
  first.refuse();
  second.refuse();
  await expect.poll(isConnected, WAIT).toBe(false);
  for (const path of ['/v1/rpc/getInfo', '/v1/rpc/getMempoolEntries']) {
    const refusal = async () => {
      const { status, json } = await ask(path);
      return [status, json['message']];
    };
    await expect.poll(refusal, WAIT).toEqual([503, 'The node is out of reach']);
  }
  second.pass();
  await untilServed();
  await expectMempoolAndTemplate();
});

test('it excludes a node of another network', async () => {
  const other = nodeThatDiffers(harness.simulatedDag.node, { network: getNetwork('testnet-10') });
  const elsewhere = await NodeBehindProxy.start(other);
  const nodeUrl = `${elsewhere.url},${harness.simulatedDag.server.url}`;
  const { program, url } = await startApi({ nodeUrl, databaseUrl: harness.database.url });
  try {
    const api = new ApiClient(url, harness.api.key);
    const networkId = async () => (await api.request('/v1/rpc/getServerInfo')).json['networkId'];
    await expect.poll(networkId, WAIT).toBe('simnet');
    await expect.poll(() => program.output(), WAIT).toContain('excluded node');
    expect(await networkId()).toBe('simnet');
  } finally {
    await program.stop();
    elsewhere.stop();
  }
});
