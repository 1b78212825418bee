/**
 * The messages of a start about a node that it has to wait for: the address, the reason, and what
 * to do.
 */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { DEFAULT_OPTIONS, NodeServer, openSimulatedDag } from '@kasgres/devnet';
import { afterEach, expect, test } from 'vitest';
import { findNodeProblem } from '../../packages/cli/src/start/node-problem.ts';
import { freePort } from '../support/programs.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function simulatedNode(now: () => number): Promise<string> {
  const { node } = openSimulatedDag({ options: DEFAULT_OPTIONS, now });
  const server = await NodeServer.start({ state: node });
  closing.push(() => server.close());
  return server.url;
}

/** The simulated node counts as synced up to its genesis, and some minutes longer. */
const LONG_AGO = 0;

test('there is no problem with a node that is synced and of the wanted network', async () => {
  const url = await simulatedNode(() => LONG_AGO);
  expect(await findNodeProblem(url, 'simnet')).toBeUndefined();
  expect(await findNodeProblem(url, undefined)).toBeUndefined();
});

test('a node of another network is a final problem', async () => {
  const problem = await findNodeProblem(await simulatedNode(() => LONG_AGO), 'mainnet');
  expect(problem).toMatchObject({
    isFinal: true,
    message: expect.stringMatching(
      /it is on simnet, but the database holds mainnet\. Set NODE_URL to a node of mainnet/,
    ) as string,
  });
});

test('a node that is not synced is waited for', async () => {
  const problem = await findNodeProblem(await simulatedNode(Date.now), 'simnet');
  expect(problem).toMatchObject({ isFinal: false, message: expect.stringContaining('it is not synced yet') as string });
});

test('a closed port, an unknown host, another protocol and silence are told apart, each with its address', async () => {
  const silent = createServer((socket) => {
    socket.on('error', () => {});
    closing.push(() => socket.destroy());
  });
  const http = createHttpServer((_request, response) => void response.end('<html>'));
  const problems: [url: string, reason: RegExp][] = [
    [`grpc://127.0.0.1:${await freePort()}`, /the connection is refused\. Start kaspad there/],
    ['grpc://node.invalid:16110', /the host is not known\. Correct it in NODE_URL/],
    [await listen(http), /does not speak kaspad's gRPC\. NODE_URL takes the port of --rpclisten/],
    [await listen(silent), /no response within 3 s\. Check host, port and firewall/],
  ];
  for (const [url, reason] of problems) {
    const problem = await findNodeProblem(url, undefined);
    expect(problem?.message).toMatch(reason);
    expect(problem?.message.startsWith(`${new URL(url).host}: `)).toBe(true);
    expect(problem?.isFinal).toBe(false);
  }
});
