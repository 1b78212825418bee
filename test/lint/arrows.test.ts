/**
 * The linter must refuse each wrong arrow between packages and rooms of the API, and each circle of
 * imports. It lints probes, in a directory with our configuration.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const REPOSITORY = join(import.meta.dirname, '../..');

/** The packages that each package may import, as in docs/architecture.md. */
const ARROWS: Record<string, readonly string[]> = {
  kaspa: [],
  runtime: [],
  client: [],
  programs: ['kaspa'],
  node: ['kaspa', 'runtime'],
  database: ['kaspa', 'runtime'],
  state: ['kaspa', 'programs', 'database'],
  reads: ['kaspa', 'database'],
  'chain-steps': ['database', 'reads'],
  webhooks: ['runtime', 'database', 'reads', 'chain-steps'],
  indexer: ['kaspa', 'programs', 'runtime', 'node', 'database', 'state'],
  api: ['kaspa', 'programs', 'runtime', 'node', 'database', 'reads', 'chain-steps', 'webhooks'],
  verification: ['kaspa', 'runtime', 'database', 'state'],
  export: ['kaspa', 'runtime', 'database', 'state'],
  cli: ['kaspa', 'programs', 'runtime', 'node', 'database', 'state', 'verification', 'export'],
  explorer: ['client', 'programs/script'],
  devnet: ['kaspa', 'runtime', 'node'],
};
const PACKAGES = Object.keys(ARROWS);

const SHARED = ['http', 'node', 'pages', 'openapi'];

/** The rooms, and files at the top, of packages/api/src that each room may import. */
const ROOMS: Record<string, readonly string[]> = {
  http: [],
  metrics: [],
  node: ['http'],
  pages: ['http'],
  openapi: [...SHARED, 'services.ts'],
  limits: ['http', 'metrics', 'openapi', 'env.ts', 'services.ts'],
  resources: [...SHARED, 'limits', 'services.ts'],
  stream: [...SHARED, 'limits', 'resources', 'services.ts'],
  webhooks: [...SHARED, 'limits', 'resources', 'stream', 'services.ts'],
  'rest-server': [...SHARED, 'limits', 'resources', 'services.ts'],
  docs: ['http', 'openapi', 'limits', 'rest-server', 'services.ts'],
  explorer: ['http', 'limits', 'services.ts'],
  workers: ['env.ts', 'serve.ts'],
};
const API = 'packages/api/src';
/** The only files outside rooms: they put the rooms together. */
const TOP_FILES = ['app', 'check-environment', 'env', 'index', 'main', 'serve', 'server', 'services'].map(
  (name) => `${name}.ts`,
);
const NO_ROOMS = new Set(['generated', 'testing']);

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kasgres-arrows-'));
  await copyFile(join(REPOSITORY, '.oxlintrc.json'), join(directory, '.oxlintrc.json'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

test('it covers every package', async () => {
  expect((await readdir(join(REPOSITORY, 'packages'))).toSorted()).toEqual(PACKAGES.toSorted());
});

test('it finds that packages depend on those that they may import', async () => {
  for (const [name, allowed] of Object.entries(ARROWS)) {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(
      await readFile(join(REPOSITORY, 'packages', name, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string> | undefined>;
    const ours = Object.keys({ ...dependencies, ...devDependencies }).filter((each) => each.startsWith('@kasgres/'));
    const packages = allowed.map((each) => `@kasgres/${each.split('/')[0]}`);
    expect(ours.toSorted(), name).toEqual(packages.toSorted());
  }
});

test('it refuses every wrong arrow and no other', async () => {
  const specifiers = (await Promise.all(PACKAGES.map(exportsOf))).flat();
  const expected: string[] = [];
  for (const from of PACKAGES) {
    const file = `packages/${from}/src/folder/probe.ts`;
    const imports = specifiers.map((specifier, i) => `import { name as name${i} } from '@kasgres/${specifier}';`);
    const wrong = specifiers
      .filter((specifier) => !isAllowed(from, specifier))
      .map((specifier) => `@kasgres/${specifier}`);
    const others = [
      `export * from '@kasgres/${from}';`,
      `export type { Name } from '../../../${from === 'kaspa' ? 'node' : 'kaspa'}/src/index.ts';`,
      `export type { Helper } from '../testing/helper.ts';`,
      `export const loaded = await import('@kasgres/${from}');`,
    ];
    await write(file, [...imports, ...others, `export const used = [${specifiers.map((_, i) => `name${i}`).join()}];`]);
    expected.push(...wrong.map((specifier) => `${file} ${specifier}`), `${file} relative`, `${file} relative`);
    // By its own name: once as a re-export, and once when it is loaded later.
    expected.push(`${file} @kasgres/${from}`, `${file} @kasgres/${from}`);
  }
  const found = (await lint()).filter(({ code }) => code.includes('no-restricted-imports'));
  const described = found.map(({ filename, message }) => {
    const specifier = /^'([^']+)'/.exec(message)?.[1] ?? message;
    return `${filename} ${specifier.startsWith('.') ? 'relative' : specifier}`;
  });
  expect(described.toSorted()).toEqual(expected.toSorted());
});

test('it finds the rooms of the API, and at most eight files at the top', async () => {
  const entries = await readdir(join(REPOSITORY, API), { withFileTypes: true });
  const rooms = entries.filter((entry) => entry.isDirectory() && !NO_ROOMS.has(entry.name)).map(({ name }) => name);
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  expect(rooms.toSorted()).toEqual(Object.keys(ROOMS).toSorted());
  expect(files.toSorted()).toEqual(TOP_FILES);
});

test('it refuses every wrong arrow between rooms of the API and no other', async () => {
  const specifiers = (await Promise.all(PACKAGES.map(exportsOf))).flat();
  const wrongPackages = specifiers.filter((specifier) => !isAllowed('api', specifier));
  const targets = [...Object.keys(ROOMS), ...TOP_FILES];
  const expected: string[] = [];
  for (const [room, allowed] of Object.entries(ROOMS)) {
    // Only `resources` has folders.
    const [file, top] = room === 'resources' ? [`${room}/folder/arrow.ts`, '../..'] : [`${room}/arrow.ts`, '..'];
    const imports = targets
      .filter((target) => target !== room)
      .map((target) => ({ target, path: `${top}/${target.endsWith('.ts') ? target : `${target}/probed.ts`}` }));
    await write(`${API}/${file}`, [
      ...imports.map(({ path }) => `export type * from '${path}';`),
      "export type * from './other.ts';",
      ...specifiers.map((specifier) => `export type * from '@kasgres/${specifier}';`),
      "export type * from '../testing/helper.ts';",
    ]);
    const wrong = imports.filter(({ target }) => !allowed.includes(target)).map(({ path }) => path);
    const packages = wrongPackages.map((specifier) => `@kasgres/${specifier}`);
    expected.push(...[...wrong, ...packages, '../testing/helper.ts'].map((path) => `${room} ${path}`));
  }
  await write(`${API}/resources/folder/inner.ts`, ["export type * from '../other/status.ts';"]);
  const found = (await lint()).filter(
    ({ code, filename }) => code.includes('no-restricted-imports') && /\/(?:arrow|inner)\.ts$/.test(filename),
  );
  const described = found.map(({ filename, message }) => {
    const room = filename.slice(API.length + 1).split('/')[0];
    return `${room} ${/^'([^']+)'/.exec(message)?.[1] ?? message}`;
  });
  expect([...new Set(described)].toSorted()).toEqual(expected.toSorted());
});

test('it leaves Kysely to packages/database and to those that read for the API', async () => {
  const without = ['state', 'indexer', 'verification', 'export', 'cli'];
  const users = [...without, 'database', 'reads', 'chain-steps', 'webhooks', 'api'].map(
    (name) => `packages/${name}/src/folder/kysely.ts`,
  );
  for (const file of users) await write(file, ["export type { Kysely } from 'kysely';"]);
  const found = (await lint()).filter(({ message }) => message.includes("'kysely'"));
  expect(found.map(({ filename }) => filename).toSorted()).toEqual(users.slice(0, without.length).toSorted());
});

test('it refuses a circle, also of types only', async () => {
  await write('packages/kaspa/src/circle/one.ts', [
    "import type { Other } from './other.ts';",
    'export interface One {',
    '  other: Other;',
    '}',
  ]);
  await write('packages/kaspa/src/circle/other.ts', [
    "import type { One } from './one.ts';",
    'export interface Other {',
    '  one: One;',
    '}',
  ]);
  const found = (await lint()).filter(({ code }) => code.includes('no-cycle'));
  expect(found.map(({ filename }) => filename).toSorted()).toEqual([
    'packages/kaspa/src/circle/one.ts',
    'packages/kaspa/src/circle/other.ts',
  ]);
});

/** Returns the specifiers of a package without the scope. */
async function exportsOf(name: string): Promise<string[]> {
  const text = await readFile(join(REPOSITORY, 'packages', name, 'package.json'), 'utf8');
  const { exports = {} } = JSON.parse(text) as { exports?: string | Record<string, unknown> };
  const paths = typeof exports === 'string' ? ['.'] : Object.keys(exports);
  return [
    name,
    ...paths.filter((path) => path !== '.' && path !== './package.json').map((path) => name + path.slice(1)),
  ];
}

const isAllowed = (from: string, specifier: string): boolean =>
  !specifier.endsWith('/testing') &&
  (ARROWS[from] ?? []).some((each) => specifier === each || specifier.startsWith(`${each}/`));

async function write(path: string, lines: readonly string[]): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true });
  await writeFile(join(directory, path), `${lines.join('\n')}\n`);
}

interface Diagnostic {
  code: string;
  filename: string;
  message: string;
}

/** oxlint exits with 1 if it finds anything. */
async function lint(): Promise<Diagnostic[]> {
  const oxlint = join(REPOSITORY, 'node_modules/.bin/oxlint');
  const { stdout } = await promisify(execFile)(oxlint, ['--format', 'json'], {
    cwd: directory,
    maxBuffer: 2 ** 26,
  }).catch((error: unknown) => error as { stdout: string });
  return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics;
}
