/** An API with a low limit of open files, whose clients open more connections than that. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import { type Program, startApi, startApiProgram } from '../support/programs.ts';
import { type Harness, openHarness } from './harness.ts';

const FILE_LIMIT = 60;
const IDLE = 90;

let harness: Harness;
let program: Program | undefined;

beforeAll(async () => {
  harness = await openHarness({ rounds: 30 });
  await harness.atRest();
});
afterAll(async () => {
  await program?.stop();
  await harness.close();
});

const env = () => ({ nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.database.url });

test('idle connections take no files from the database and the node', async () => {
  const started = await startApi({ ...env(), fileLimit: FILE_LIMIT });
  ({ program } = started);
  const { url } = started;
  expect(program.output()).toContain('the limit of open files allows fewer connections');
  const client = new ApiClient(url, harness.api.key);
  await expect.poll(async () => (await client.request('/v1/rpc/getFeeEstimate')).status).toBe(200);
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: IDLE }, () => connect({ host: hostname, port: Number(port) }));
  for (const socket of sockets) socket.on('error', () => undefined);
  await Promise.all(sockets.map(async (socket) => once(socket, 'connect')));
  for (let count = 0; count < 20; count += 1) {
    for (const path of ['/v1/blocks', '/v1/rpc/getSink', '/v1/rpc/getFeeEstimate', '/v1/mempool', '/v1/status']) {
      const { status, text } = await client.request(path);
      expect({ path, status, text: status === 200 ? '' : text }).toEqual({ path, status: 200, text: '' });
    }
  }
  for (const socket of sockets) socket.destroy();
});

test('a limit that leaves no room for clients ends the program with an explanation', async () => {
  const refused = startApiProgram({ ...env(), fileLimit: 45 }, {});
  expect(await refused.exited).toBe(1);
  expect(refused.output()).toContain('The limit of 45 open files leaves no room for connections of clients');
});
