/**
 * Requests with targets, headers and bytes that no client sends by accident, to every port of the
 * real processes: none of them ends one.
 */
import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Program, startApi, startIndexer } from '../support/programs.ts';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { SimulatedDag } from '../support/simulated-dag.ts';

let simulatedDag: SimulatedDag;
let database: TestDatabase;
let indexer: Program;
let api: Program;
/** By what listens there. */
let ports: Record<string, number>;

const portOf = (url: string): number => Number(new URL(url).port);

beforeAll(async () => {
  simulatedDag = await SimulatedDag.start('malformed');
  simulatedDag.mine(3);
  database = await createTestDatabase();
  const env = { nodeUrl: simulatedDag.server.url, databaseUrl: database.url };
  indexer = startIndexer(env);
  const started = await startApi(env, () => true);
  api = started.program;
  ports = {
    'metrics of the indexer': portOf(await indexer.metricsUrl()),
    'metrics of the API': portOf(await api.metricsUrl()),
    API: portOf(started.url),
  };
});
afterAll(async () => {
  await Promise.all([api.stop(), indexer.stop()]);
  simulatedDag.stop();
  await database.drop();
});

// biome-ignore format: a list
const TARGETS = [
  '//', '///', '//[', '//:', '//@', '/\\', '*', 'http://', 'http://[', 'x:', '?', '#', '/%', '/%zz', '/%00', '/..', '/docs/%',
  '/docs/static/%2e%2e/%2e%2e/package.json', '/docs//', '/openapi.json/%', '/v1//', '//v1/status', '//metrics', '/v1/blocks/%ff',
  '/v1/addresses/%', '/v1/blocks?%', '/v1/blocks?limit=%zz&%', '/v1/blocks?__proto__[x]=1',
];
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'CONNECT', 'PRI', 'QUERY'];
const HEADERS = [
  'host: //',
  'host: [',
  'host:\r\nx-api-key: \xff\xfe',
  'host: x\r\nx-api-key: a\r\nx-api-key: b',
  'host: x\r\nx-request-id: %',
  'host: x\r\ncookie: __proto__=%zz',
  'host: x\r\nif-none-match: ,,*,"',
  'host: x\r\naccept-encoding: ;q=,%,*;q=x',
  'host: x\r\norigin: //',
  'host: x\r\nexpect: 100-continue',
  'host: x\r\nexpect: nothing',
  'host: x\r\nupgrade: websocket\r\nconnection: upgrade',
  'host: x\r\ncontent-type: //;=\r\ncontent-length: 2',
  'host: x\r\ncontent-type: application/json; charset=\xff\r\ncontent-length: 2',
  'host: x\r\nrange: bytes=-,x',
];

const requests = [
  ...METHODS.flatMap((method) => TARGETS.map((target) => `${method} ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)),
  ...HEADERS.map((lines) => `POST /v1/rpc/getBlocks HTTP/1.1\r\n${lines}\r\n\r\n{}`),
  ...HEADERS.map((lines) => `GET /docs/static/docs.css HTTP/1.1\r\n${lines}\r\n\r\n`),
  'GET / HTTP/9.9\r\n\r\n',
  'GET / HTTP/1.0\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\r\n\r\n\0\0',
];

async function send(port: number, text: string): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  socket.end(text, 'latin1');
  socket.resume();
  await once(socket, 'close');
}

test('every process continues after every malformed request', async () => {
  for (const [name, port] of Object.entries(ports)) {
    const isAlive = async () =>
      (await fetch(`http://127.0.0.1:${port}/${name === 'API' ? 'openapi.json' : 'healthz'}`)).status;
    for (const text of requests) {
      await send(port, text);
      expect([api.isRunning(), indexer.isRunning()], `${name}: ${JSON.stringify(text)}`).toEqual([true, true]);
    }
    expect(await isAlive()).toBe(200);
  }
  const failures = [api, indexer].flatMap((program) => program.output().match(/.*"level":"(error|fatal)".*/g) ?? []);
  expect(failures).toEqual([]);
});
