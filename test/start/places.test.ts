/**
 * A fresh checkout in the places where people put one: as an ordinary user, as root, and as root in
 * a folder that only root may enter, where the embedded Postgres, which never runs as root, cannot
 * go. And two demos side by side.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync } from 'node:fs';
import { cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/programs.ts';
import { paste, ROOT, Started } from './started.ts';

const QUICK = { DEVNET_PAST_BLOCKS: '200', DEVNET_PAST_TRANSACTIONS: '200' };
const isRoot = process.getuid?.() === 0;
/** `nobody` on Linux. */
const ORDINARY_USER = { uid: 65_534, gid: 65_534 };

let parent: string;
let checkout: string;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'kasgres-places-'));
  checkout = join(parent, 'kasgres');
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: ROOT });
  for (const file of files.toString().split('\0').filter(Boolean)) {
    await mkdir(dirname(join(checkout, file)), { recursive: true });
    // A file that was deleted, but is in the index still, is none of the checkout.
    await cp(join(ROOT, file), join(checkout, file)).catch(() => {});
  }
  // Hard links: a copy of the packages without their bytes, where the file system can.
  const [from, to] = [join(ROOT, 'node_modules'), join(checkout, 'node_modules')];
  execFileSync('sh', ['-c', 'cp -al "$0" "$1" 2>/dev/null || { rm -rf "$1"; cp -a "$0" "$1"; }', from, to]);
}, 300_000);

afterAll(async () => {
  const cluster = await realpath(join(checkout, 'data/postgres/cluster')).catch(() => undefined);
  if (cluster !== undefined) await rm(cluster, { recursive: true });
  await rm(parent, { recursive: true });
});

async function startAndAsk(options: { user?: { uid: number; gid: number } }): Promise<void> {
  const port = String(await freePort());
  const started = new Started({ ...options, checkout, env: { ...QUICK, PORT: port, HOME: parent } });
  try {
    await started.ready();
    for (const line of started.lines.filter((line) => line.startsWith('curl '))) {
      expect(await paste(line, {})).not.toContain('statusCode');
    }
    started.pressCtrlC();
    await started.exited();
    expect(await started.processesLeft(1_000)).toEqual([]);
  } finally {
    await started.end();
  }
}

describe.runIf(isRoot)('as root', () => {
  test('it starts as root in a folder that only root may enter', { timeout: 180_000 }, async () => {
    chmodSync(parent, 0o700);
    await startAndAsk({});
  });
});

test('it starts as an ordinary user', { timeout: 180_000 }, async () => {
  if (!isRoot) return startAndAsk({});
  chmodSync(parent, 0o755);
  const data = join(checkout, 'data');
  const cluster = await realpath(join(data, 'postgres/cluster')).catch(() => undefined);
  for (const folder of [cluster, data]) if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  for (const folder of [parent, checkout]) chownSync(folder, ORDINARY_USER.uid, ORDINARY_USER.gid);
  await startAndAsk({ user: ORDINARY_USER });
});

test('it runs two demos side by side', { timeout: 240_000 }, async () => {
  const demos = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const env = { ...QUICK, DATA_DIR: join(parent, name), PORT: String(await freePort()) };
      return new Started({ env });
    }),
  );
  try {
    for (const demo of demos) await demo.ready();
    const keys = demos.map(({ output }) => /kdp_[0-9a-f]{64}/.exec(output)?.[0]);
    expect(keys[0]).not.toBe(keys[1]);
  } finally {
    for (const demo of demos) await demo.end();
  }
});
