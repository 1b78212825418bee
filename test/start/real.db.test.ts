/**
 * `npm start` with NODE_URL and DATABASE_URL: nothing is supplied, no key is made, and what is
 * there stays when it ends.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { freePort } from '../support/programs.ts';
import { paste, ROOT, Started } from './started.ts';

let database: TestDatabase;
let node: Started;
let dataDir: string;
let env: Record<string, string>;
let started: Started;

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  dataDir = await mkdtemp(join(tmpdir(), 'kasgres-real-'));
  node = new Started({
    command: [join(ROOT, 'node_modules/.bin/node'), 'packages/devnet/src/main.ts'],
    env: { DEVNET_PAST_BLOCKS: '300', DEVNET_PAST_TRANSACTIONS: '300' },
  });
  const announcement = JSON.parse(await node.line(/^\{"url"/)) as { url: string };
  env = {
    NODE_URL: announcement.url,
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
  };
});

afterEach(() => started.end());

afterAll(async () => {
  await node.end();
  await database.drop();
  await rm(dataDir, { recursive: true });
});

test('it prints lines that make and use a key, and that work when pasted', async () => {
  started = new Started({ env });
  await started.ready();
  expect(started.output).not.toMatch(/kdp_/);
  expect(existsSync(join(dataDir, 'demo-key'))).toBe(false);

  const makeKey = await started.line(/^KEY=/);
  const requests = started.lines.filter((line) => line.startsWith('curl '));
  expect(requests).toHaveLength(3);
  const responses = await paste([makeKey, ...requests.map((request) => `${request}; echo`)].join('\n'), env);
  const [network, blocks, chain] = responses
    .trim()
    .split('\n')
    .map((response) => JSON.parse(response) as unknown);
  expect(network).toEqual({ network: 'simnet' });
  expect(z.object({ blocks: z.array(z.unknown()).nonempty() }).safeParse(blocks).success).toBe(true);
  expect(z.object({ addedChainBlockHashes: z.array(z.string()) }).safeParse(chain).success).toBe(true);

  started.pressCtrlC();
  await started.exited();
  expect(await started.processesLeft(1_000)).toEqual([]);
  expect(node.exitCode).toBeNull();
});

test('it stops every program and prints the error when one of them fails permanently', async () => {
  started = new Started({ env: { ...env, NETWORK: 'mainnet' } });
  await started.exited();
  expect(started.output).toMatch(/^indexer stopped: .*simnet.*mainnet|^indexer stopped: .*mainnet.*simnet/m);
  await expect.poll(() => started.processesLeft(0)).toEqual([]);
});
