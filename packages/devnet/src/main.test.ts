/**
 * The simulated node as a process: it announces its address, stops on a signal, and continues its
 * chain after a kill.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { toHex } from '@kasgres/kaspa';
import { checkNode, NodeClient } from '@kasgres/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

const PROGRAM = fileURLToPath(new URL('main.ts', import.meta.url));
const SMALL = '--past-blocks 120 --past-transactions 150 --coinbase-maturity 30 --blocks-per-second 20'.split(' ');
const demoFile = z.object({ address: z.string(), tags: z.array(z.object({ address: z.string(), name: z.string() })) });

let dataDir: string;
const children: ChildProcess[] = [];
const clients: NodeClient[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'devnet-'));
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(dataDir, { recursive: true });
});

describe('the program', () => {
  test('it generates a past, responds, and grows', async () => {
    const { url } = await start();
    const client = connect(url);
    expect(await checkNode(client)).toMatchObject({ serverVersion: '2.1.0', isSynced: true });
    const chain = await client.call('getVirtualChainFromBlock', {
      startHash: (await client.call('getBlockDagInfo', {})).pruningPointHash,
      includeAcceptedTransactionIds: true,
    });
    expect(chain.addedChainBlockHashes.length).toBeGreaterThan(30);
    const { sink } = await client.call('getSink', {});
    await until(async () => (await client.call('getSink', {})).sink !== sink);
  });

  test('prints addresses that have UTXOs', async () => {
    const { url } = await start();
    const client = connect(url);
    const { address, tags } = demoFile.parse(JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')));
    expect(tags[0]?.address).toBe(address);
    const balances = await client.call('getBalancesByAddresses', { addresses: tags.map((tag) => tag.address) });
    expect(balances.entries.filter(({ balance }) => balance > 0n).length).toBeGreaterThan(5);
  });

  test('shuts down cleanly on SIGTERM', async () => {
    const { child } = await start();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('exits when its parent exits', async () => {
    const { child } = await start();
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('exits with 1 if a restart cannot help', async () => {
    const child = run(['--width', 'wide']);
    child.stderr?.resume();
    expect(await once(child, 'exit')).toEqual([1, null]);
  });
});

test('after kill -9 everything that was announced is still there', async () => {
  let told: string[] = [];
  for (const pauseMs of [0, 300]) {
    const { child, url } = await start();
    const client = connect(url);
    expect(await allBlocks(client)).toEqual(expect.arrayContaining(told));
    await setTimeout(pauseMs);
    told = await allBlocks(client);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  const client = connect((await start()).url);
  const known = await allBlocks(client);
  expect(known).toEqual(expect.arrayContaining(told));
  expect(new Set(known).size).toBeGreaterThanOrEqual(120);
});

function run(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, '--data-dir', dataDir, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  return child;
}

async function start(): Promise<{ child: ChildProcess; url: string }> {
  const child = run(SMALL);
  child.stderr?.resume();
  if (child.stdout === null) throw new Error('no output');
  const message = once(child, 'message');
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = z.object({ url: z.string() }).parse(JSON.parse(line));
    expect(await message).toEqual([{ url }, undefined]);
    return { child, url };
  }
  throw new Error('the program ended');
}

function connect(url: string): NodeClient {
  const client = new NodeClient({ url });
  clients.push(client);
  return client;
}

/** Hashes of all blocks that the node's virtual block merges or is on, in no order. */
async function allBlocks(client: NodeClient): Promise<string[]> {
  const hashes = new Set<string>();
  let lowHash: Uint8Array | undefined;
  for (;;) {
    const before = hashes.size;
    const { blockHashes } = await client.getBlocks({ lowHash, includeBlocks: false, includeTransactions: false });
    for (const hash of blockHashes) hashes.add(toHex(hash));
    if (hashes.size === before) return [...hashes];
    lowHash = blockHashes.at(-1);
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(20);
}
