/**
 * `npm run pack` writes to dist/ what a release publishes: the tarballs of `kasgres` and
 * `@kasgres/client`, and the SBOM of `kasgres`. The same commit gives the same bytes.
 *
 * `kasgres` is one package: each module of the programs as JavaScript, at its place in the
 * repository, so that programs, workers, migrations and the explorer find each other as they do
 * there. Packages of npm remain dependencies.
 */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build, type Plugin } from 'rolldown';
import { readScalar } from '../packages/api/src/docs/scalar.ts';
import { makeManifest } from './manifest.ts';
import { makeSbom } from './sbom.ts';

const ROOT = join(import.meta.dirname, '..');
const OUTPUT = join(ROOT, 'dist');
const STAGE = join(OUTPUT, 'kasgres');
const PACKAGES = [
  'cli',
  'verification',
  'export',
  'indexer',
  'api',
  'webhooks',
  'chain-steps',
  'reads',
  'devnet',
  'state',
  'database',
  'node',
  'programs',
  'kaspa',
  'runtime',
];
const COMMAND = 'packages/cli/src/main';
const POLYFILLS = 'release/es2024';
/** The programs find these files by their place. */
const ASSETS = [
  'migrations',
  'ops/roles.sql',
  'packages/api/src/docs/browser',
  'packages/explorer/dist',
  'packages/programs/template-names.yaml',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
];
/**
 * The plugin that contains the script of /docs has more dependencies than all others, and needs a
 * newer Node.
 */
const SCALAR = { package: '@scalar/fastify-api-reference', module: 'docs/scalar.ts', file: 'browser/scalar.js' };

const exec = promisify(execFile);
const run = async (command: string, parameters: string[], cwd = ROOT): Promise<string> =>
  (await exec(command, parameters, { cwd, maxBuffer: 2 ** 26 })).stdout;

/** Paths of programs and workers, which are arguments, not imports. */
const paths: Plugin = {
  name: 'paths',
  renderChunk: (code) => code.replaceAll(/\((["'])(\.{1,2}\/[\w./-]+)\.ts\1/g, '($1$2.js$1'),
};

const scalar: Plugin = {
  name: 'scalar',
  load: (id) =>
    id.endsWith(SCALAR.module)
      ? `import { readFile } from 'node:fs/promises';
         export const readScalar = () => readFile(new URL('${SCALAR.file}', import.meta.url), 'utf8');`
      : undefined,
};

await rm(OUTPUT, { recursive: true, force: true });
await mkdir(STAGE, { recursive: true });
await run('npm', ['run', 'prepare']);
await run('tsc', ['-p', 'release']);
await buildPrograms();
for (const asset of ASSETS) await cp(join(ROOT, asset), join(STAGE, asset), { recursive: true });
await writeFile(join(STAGE, 'packages/api/src/docs', SCALAR.file), await readScalar());
const manifest = await makeManifest(ROOT, { packages: PACKAGES, left: [SCALAR.package], command: `${COMMAND}.js` });
await writeFile(join(STAGE, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
// For the SBOM. npm removes what the package does not need.
await cp(join(ROOT, 'package-lock.json'), join(STAGE, 'package-lock.json'));
await run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], STAGE);
await writeFile(join(OUTPUT, `kasgres-${manifest.version}.cdx.json`), await makeSbom(ROOT, STAGE, run));
await run('npm', ['pack', '--pack-destination', OUTPUT], STAGE);
await run('npm', ['pack', '--pack-destination', OUTPUT], join(ROOT, 'packages/client'));
await rm(STAGE, { recursive: true });
process.stdout.write(`${globSync('*', { cwd: OUTPUT }).sort().join('\n')}\n`);

async function buildPrograms(): Promise<void> {
  await build({
    cwd: ROOT,
    input: [
      `${POLYFILLS}.ts`,
      ...globSync(`packages/{${PACKAGES.join()}}/src/**/{main,check-environment,*.worker}.ts`, {
        cwd: ROOT,
        exclude: ['**/testing/**'],
      }),
    ],
    platform: 'node',
    external: (id) => !/^(?:[./]|packages\/|release\/|@kasgres\/)/.test(id),
    plugins: [paths, scalar],
    transform: { target: 'node20.19' },
    output: {
      dir: STAGE,
      preserveModules: true,
      preserveModulesRoot: ROOT,
      banner: ({ isEntry, name }) =>
        isEntry && name !== POLYFILLS
          ? `${name === COMMAND ? '#!/usr/bin/env node\n' : ''}import '${'../'.repeat(name.split('/').length - 1)}${POLYFILLS}.js';`
          : '',
    },
  });
}
