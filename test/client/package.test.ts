/**
 * The client as its users get it: packed, unpacked beside a program of theirs, called from
 * JavaScript, and checked by their TypeScript.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const { version: VERSION } = packageJson;
const run = promisify(execFile);
const REPOSITORY = join(import.meta.dirname, '../..');
const CLIENT = join(REPOSITORY, 'packages/client');

let folder: string;
let server: Server;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kasgres-client-'));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: CLIENT });
  const installed = join(folder, 'node_modules/@kasgres/client');
  await mkdir(installed, { recursive: true });
  await run(
    'tar',
    ['--extract', '--strip-components=1', '--file', `kasgres-client-${VERSION}.tgz`, '--directory', installed],
    {
      cwd: folder,
    },
  );
  for (const dependency of ['openapi-fetch', 'openapi-typescript-helpers']) {
    await symlink(join(REPOSITORY, 'node_modules', dependency), join(folder, 'node_modules', dependency));
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');

  server = createServer((request, response) => {
    const body = {
      tags: [{ url: request.url, key: request.headers['x-api-key'] }],
      metadata: { hasMore: false, count: 1 },
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

test('works in plain JavaScript', async () => {
  const { port } = server.address() as AddressInfo;
  await writeFile(
    join(folder, 'program.js'),
    `import { createClient } from '@kasgres/client';
     const client = createClient({ baseUrl: 'http://127.0.0.1:${port}', apiKey: 'secret' });
     for await (const tag of client.paginate('/v1/tags', { params: { query: { limit: 7 } } })) console.log(JSON.stringify(tag));`,
  );
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder });
  expect(JSON.parse(stdout)).toEqual({ url: '/v1/tags?limit=7', key: 'secret' });
});

test('has types that a strict TypeScript takes, and that refuse what is wrong', async () => {
  await writeFile(
    join(folder, 'program.ts'),
    `import { ApiError, createClient, type Schema } from '@kasgres/client';
     const client = createClient({ baseUrl: '', apiKey: '', retry: { attempts: 3 } });
     export async function main(): Promise<bigint> {
       let sum = 0n;
       const params = { path: { address: 'kaspa:' }, query: { limit: 10 } };
       for await (const utxo of client.paginate('/v1/addresses/{address}/utxos', { params })) {
         const same: Schema<'RestUtxo'> = utxo;
         sum += BigInt(same.amount);
       }
       // @ts-expect-error a balance is no number
       const balance: number = (await client.get('/v1/rpc/getBalanceByAddress/{address}', { params })).balance;
       if (new ApiError(new Response(), balance).retryAfterSeconds === 3) return 0n;
       return sum;
     }
     export async function follow(from: string | undefined, signal?: AbortSignal): Promise<void> {
       for await (const { events } of client.subscribe({ from, signal })) {
         for (const { event, data } of events) if (event === 'chain') data.added.map(({ hash }): string => hash);
       }
     }`,
  );
  const tsc = join(CLIENT, 'node_modules/typescript/lib/tsc.js');
  const checks = ['--noEmit', '--strict', '--exactOptionalPropertyTypes'];
  const options = [...checks, '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
  const { stdout } = await run(process.execPath, [tsc, ...options, 'program.ts'], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});
