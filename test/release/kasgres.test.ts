/**
 * `kasgres` from its tarball in an empty folder: from the installation to the first response, and
 * the commands on its data.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { VERSION } from '@kasgres/runtime';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Started } from '../start/started.ts';
import { freePort } from '../support/programs.ts';
import { compilersUsed, findTool, type Folder, makeFolder, pathWithNode, TARBALL, type User } from './installed.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY: User = { uid: 65534, gid: 65534 };
const FIRST_RESPONSE_MS = 60_000;
const RUN = { npm: ['npx', 'kasgres'], pnpm: ['pnpm', 'exec', 'kasgres'] } as const;

interface Setup {
  node: string;
  manager: 'npm' | 'pnpm';
  /** Options of the installation. */
  options?: string[];
  folder?: string;
  user?: User;
  /** Without a network after the installation, which needs root. */
  offline?: boolean;
}

/** The first version of each range of `engines`, and a newer one. */
const SETUPS: Setup[] = [
  { node: '20.19.0', manager: 'npm', folder: 'a folder with spaces' },
  { node: '22.13.0', manager: 'npm', ...(isRoot && { user: NOBODY }) },
  { node: '24.0.0', manager: 'pnpm' },
  { node: '26.10.0', manager: 'npm', options: ['--ignore-scripts'], offline: true },
];

test('the same commit gives the same files', () => {
  const [first, second] = inject('packed');
  expect(Object.keys(first ?? {}).sort()).toEqual([
    `kasgres-${VERSION}.cdx.json`,
    `kasgres-${VERSION}.tgz`,
    `kasgres-client-${VERSION}.tgz`,
  ]);
  expect(second).toEqual(first);
});

test('the first of each range of engines is tested', () => {
  const { engines } = JSON.parse(
    execFileSync('tar', ['xzOf', TARBALL, 'package/package.json'], { encoding: 'utf8' }),
  ) as {
    engines: { node: string };
  };
  expect(engines.node.match(/\d+\.\d+\.\d+/g)).toEqual(SETUPS.slice(0, 3).map(({ node }) => node));
});

test('the SQL of the roles is in the package', () => {
  const packed = execFileSync('tar', ['xzOf', TARBALL, 'package/ops/roles.sql'], { encoding: 'utf8' });
  expect(packed).toBe(readFileSync(new URL('../../ops/roles.sql', import.meta.url), 'utf8'));
});

describe.each(SETUPS)(
  'on Node $node by $manager',
  ({ node, manager, options = [], folder: name = 'app', user, offline = false }) => {
    const kasgres = RUN[manager];
    const namespace =
      offline && canUnshare() ? ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'] : [];
    let folder: Folder;
    let port: string;
    let started: Started | undefined;
    let firstResponse: { afterMs: number; body: string };

    beforeAll(async () => {
      const tools = [
        await pathWithNode(node),
        ...(manager === 'pnpm' ? [join(await findTool('pnpm', '10'), '.bin')] : []),
      ];
      folder = makeFolder(name, tools.join(':'), user);
      // The user may not be able to read the repository.
      copyFileSync(TARBALL, join(folder.path, basename(TARBALL)));
      await folder.run([manager, manager === 'npm' ? 'install' : 'add', ...options, `./${basename(TARBALL)}`]);
      port = String(await freePort());
      const begin = Date.now();
      started = new Started({
        checkout: folder.path,
        command: [...namespace, ...kasgres, 'start'] as unknown as [string, ...string[]],
        env: { ...(folder.env as Record<string, string>), PORT: port },
        ...(user && { user }),
      });
      firstResponse = { body: await untilResponds('/v1/status'), afterMs: Date.now() - begin };
      await started.ready();
    });
    afterAll(async () => {
      await started?.end();
      folder.remove();
    });

    /** Runs a command in the network of the started programs. */
    async function run(command: readonly string[], env?: NodeJS.ProcessEnv): Promise<string> {
      const inside = namespace.length === 0 ? [] : ['nsenter', `--target=${started?.npmProcessId}`, '--net'];
      return await folder.run([...inside, ...command], env);
    }

    async function get(path: string): Promise<string> {
      const program = `const r = await fetch('http://127.0.0.1:${port}${path}'); process.stdout.write(await r.text()); process.exitCode = r.ok ? 0 : 1;`;
      return await run(['node', '--input-type=module', '--eval', program]);
    }

    async function untilResponds(path: string): Promise<string> {
      for (;;) {
        const body = await get(path).catch(() => undefined);
        if (body !== undefined) return body;
        if (started?.exitCode !== null) throw new Error(`kasgres start has ended:\n${started?.output}`);
        await sleep(250);
      }
    }

    test('the first response of /v1 comes within a minute', () => {
      expect(JSON.parse(firstResponse.body)).toMatchObject({ version: VERSION, network: 'simnet' });
      console.log(`first response after ${(firstResponse.afterMs / 1000).toFixed(1)} s`);
      expect(firstResponse.afterMs).toBeLessThan(FIRST_RESPONSE_MS);
    });

    test('it serves the explorer and the documentation', async () => {
      expect(await get('/')).toContain('<title>');
      const [scalar] = /\/docs\/static\/scalar[^"]+/.exec(await get('/docs')) ?? [];
      expect((await get(scalar ?? '/none')).length).toBeGreaterThan(1_000_000);
    });

    test('it prints its version and its commands', async () => {
      expect((await run([...kasgres, '--version'])).trim()).toBe(VERSION);
      const help = await run([...kasgres, '--help']);
      for (const command of ['start', 'migrate', 'indexer', 'api', 'verify', 'export']) expect(help).toContain(command);
    });

    test('a second start on the same data is refused', async () => {
      await expect(run([...kasgres, 'start'], { PORT: port })).rejects.toMatchObject({
        stderr: expect.stringMatching(/Kasgres already runs on/) as string,
      });
    });

    test('it verifies and exports its data', async () => {
      expect(await run([...kasgres, 'migrate', '--check'])).toContain('up to date');
      const verified = await run([...kasgres, 'verify', '--without-utxos']);
      expect(verified).toContain('holds');
      expect(verified).not.toContain('BROKEN');
      await run([...kasgres, 'export', 'out', 'transactions', 'addresses']);
      const files = globSync('out/**/*.parquet', { cwd: folder.path });
      expect(files.length).toBeGreaterThan(1);
      for (const file of files) expect(readFileSync(join(folder.path, file)).subarray(0, 4).toString()).toBe('PAR1');
    });

    test('it needed no compiler, and ends with Ctrl-C', async () => {
      expect(compilersUsed(folder)).toBe('');
      started?.pressCtrlC();
      await started?.exited();
      expect(await started?.processesLeft()).toEqual([]);
    });
  },
);

function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('the network cannot be taken away without root, unshare and ip: offline use is not tested');
    return false;
  }
}
