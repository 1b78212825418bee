/** `@kasgres/client` from its tarball, in each kind of program that may use it. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLIENT_TARBALL, type Folder, makeFolder, pathWithNode, ROOT } from './installed.ts';

const USE = (baseUrl: string): string => `
  const client = createClient({ baseUrl: '${baseUrl}', apiKey: 'secret' });
  const read = async () => {
    for await (const tag of client.paginate('/v1/tags', { params: { query: { limit: 7 } } })) print(JSON.stringify(tag));
  };
  const done = read();`;

const TYPED = `
  const client = createClient({ baseUrl: '', apiKey: '' });
  export async function main(): Promise<string> {
    const params = { path: { address: 'kaspa:' } };
    const { balance } = await client.get('/v1/rpc/getBalanceByAddress/{address}', { params });
    // @ts-expect-error a balance is no number
    const number: number = balance;
    // @ts-expect-error there is no such path
    await client.get('/v1/none');
    const tag: Schema<'RestUtxo'> | undefined = undefined;
    return balance + String(number) + String(tag);
  }`;

const EXPECTED = { url: '/v1/tags?limit=7', key: 'secret' };

let folder: Folder;
let server: Server;
let baseUrl: string;

beforeAll(async () => {
  folder = makeFolder('app', await pathWithNode('20.19.0'));
  await folder.run(['npm', 'install', CLIENT_TARBALL]);
  server = createServer((request, response) => {
    const tags = [{ url: request.url, key: request.headers['x-api-key'] }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ tags, metadata: { hasMore: false, count: 1 } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  folder.remove();
});

async function runProgram(name: string, load: string, ...options: string[]): Promise<unknown> {
  writeFileSync(join(folder.path, name), `${load}\nconst print = console.log;${USE(baseUrl)}`);
  return JSON.parse(await folder.run(['node', ...options, name]));
}

test('an ES module imports it', async () => {
  expect(await runProgram('program.mjs', `import { createClient } from '@kasgres/client';`)).toEqual(EXPECTED);
});

test('a CommonJS module requires it, also where ES modules cannot be required', async () => {
  const load = `const { createClient } = require('@kasgres/client');`;
  expect(await runProgram('program.cjs', load, '--no-experimental-require-module')).toEqual(EXPECTED);
});

test.each([
  ['node16', 'program.mts', ['--module', 'node16', '--moduleResolution', 'node16']],
  ['node16, CommonJS', 'program.cts', ['--module', 'node16', '--moduleResolution', 'node16']],
  ['bundler', 'program.ts', ['--module', 'esnext', '--moduleResolution', 'bundler']],
])('TypeScript with moduleResolution %s has its types', async (_, name, options) => {
  writeFileSync(join(folder.path, name), `import { createClient, type Schema } from '@kasgres/client';\n${TYPED}`);
  const tsc = join(ROOT, 'packages/client/node_modules/typescript/lib/tsc.js');
  const strict = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom'];
  expect(
    await folder.run(['node', tsc, ...strict, ...options, name]).catch((error: { stdout: string }) => error.stdout),
  ).toBe('');
});

test('a bundle for browsers needs nothing of Node', async () => {
  const entry = join(folder.path, 'browser.js');
  writeFileSync(entry, `import { createClient } from '@kasgres/client';\n${USE(baseUrl)}\nfinish(done);`);
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    onwarn: (warning) => expect.fail(warning.message),
  });
  const { output } = await bundle.generate({ format: 'iife' });
  expect(output).toHaveLength(1);
  expect(output[0].imports).toEqual([]);
  const lines: string[] = [];
  let done: Promise<unknown> = Promise.reject(new Error('not run'));
  done.catch(() => undefined);
  const web = { fetch, Request, Response, Headers, URL, URLSearchParams, AbortController, setTimeout, clearTimeout };
  runInNewContext(output[0].code, {
    ...web,
    print: (line: string) => lines.push(line),
    finish: (promise: Promise<unknown>) => {
      done = promise;
    },
  });
  await done;
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([EXPECTED]);
  expect(output[0].code.length).toBeLessThan(60_000);
});
