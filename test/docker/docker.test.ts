/**
 * Checks Dockerfile and docker-compose.yml without a Docker engine: their references must exist,
 * and the commands of the image run in an empty folder outside the repository. test/containers runs
 * them in an engine.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, matchesGlob } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

/**
 * Returns the files of the checkout that neither .gitignore nor .dockerignore excludes, relative to
 * the root. Files that git ignores exist on one machine only and must not be needed.
 */
function listBuildContext(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  });
  const ignored = ignorePatterns(readFileSync(join(root, '.dockerignore'), 'utf8'));
  return listed
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(root, file)))
    .filter((file) => !ignored.some((pattern) => isMatch(file, pattern)));
}

function ignorePatterns(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const exception = patterns.find((pattern) => pattern.startsWith('!'));
  if (exception !== undefined) throw new Error(`this reader of .dockerignore knows no exceptions: ${exception}`);
  return patterns;
}

/** A pattern excludes the paths that it matches, and everything below them. */
function isMatch(file: string, pattern: string): boolean {
  return matchesGlob(file, pattern) || matchesGlob(file, `${pattern}/**`);
}

/** The files that one source of a COPY names: a file, or everything in a folder. */
function filesOf(source: string, context: readonly string[]): string[] {
  return context.filter((file) => file === source || file.startsWith(`${source.replace(/\/$/, '')}/`));
}

/** Copies the sources of `COPY` into a folder that stands for the image's root. */
async function copyIntoImage(
  root: string,
  context: readonly string[],
  sources: readonly string[],
  target: string,
): Promise<void> {
  const intoFolder = target.endsWith('/') || sources.length > 1;
  for (const source of sources) {
    for (const file of filesOf(source, context)) {
      const isFolder = file !== source;
      const below = isFolder ? file.slice(source.length + 1) : intoFolder ? file.split('/').at(-1) : '';
      const to = join(target, below ?? '');
      await mkdir(dirname(to), { recursive: true });
      await cp(join(root, file), to);
    }
  }
}

interface Instruction {
  /** FROM, COPY, RUN … */
  name: string;
  text: string;
}

interface Stage {
  name: string;
  /** The image or stage that it starts from. */
  from: string;
  instructions: Instruction[];
}

/**
 * Parses the subset of Dockerfile syntax that the project uses.
 * @throws if a line is no instruction, comment or empty line, or comes before the first FROM
 */
function parseDockerfile(text: string): Stage[] {
  const stages: Stage[] = [];
  for (const line of joinedLines(text)) {
    const [, name, rest] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined) throw new Error(`not an instruction: ${line}`);
    if (name === 'FROM') {
      const [, from, stage] = /^(\S+)\s+AS\s+(\S+)$/.exec(rest) ?? [];
      if (from === undefined || stage === undefined) throw new Error(`a stage without a name: ${line}`);
      stages.push({ name: stage, from, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`before the first FROM: ${line}`);
      stage.instructions.push({ name, text: rest });
    }
  }
  return stages;
}

function joinedLines(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

interface Copy {
  /** Stage that it copies from; undefined for the build context. */
  from: string | undefined;
  sources: string[];
  target: string;
}

function parseCopy(text: string): Copy {
  const words = text.split(/\s+/);
  const from = words[0]?.startsWith('--from=') === true ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop();
  if (target === undefined || words.length === 0) throw new Error(`not a COPY: ${text}`);
  return { from, sources: words, target };
}

const ROOT = join(import.meta.dirname, '..', '..');
const stages = parseDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
const context = listBuildContext(ROOT);
const runFile = promisify(execFile);

interface Service {
  image?: string;
  build?: { context: string; target: string };
  command?: string | string[];
  entrypoint?: string[];
  user?: string;
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  volumes?: string[];
  profiles?: string[];
  restart?: string;
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  privileged?: boolean;
  pids_limit?: number;
  mem_limit?: string;
  logging?: { driver: string; options: Record<string, string> };
  networks?: string[];
  network_mode?: string;
  ports?: string[];
}

const composeText = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
const compose = parse(composeText, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, null>;
  networks: Record<string, { internal?: boolean } | null>;
};
const services = Object.entries(compose.services);

describe('Dockerfile', () => {
  const copies = stages.flatMap((stage) =>
    stage.instructions
      .filter(({ name }) => name === 'COPY')
      .map(({ text }) => ({ stage: stage.name, copy: parseCopy(text) })),
  );

  test.each(copies)('it finds the sources of COPY $copy.sources in stage $stage', ({ copy: { from, sources } }) => {
    if (from !== undefined) {
      expect(stages.map(({ name }) => name)).toContain(from);
    } else {
      for (const source of sources) expect(filesOf(source, context), source).not.toEqual([]);
    }
  });

  test('it copies the package.json of every workspace before it installs packages', () => {
    const { workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { workspaces: string[] };
    const copied = copies.filter(({ stage }) => stage === 'dependencies').flatMap(({ copy }) => copy.sources);
    for (const workspace of workspaces) expect(copied).toContain(`${workspace}/package.json`);
  });

  test('it builds an image that does not run as root', () => {
    expect(stages.at(-1)?.instructions.find(({ name }) => name === 'USER')?.text).toBe('node');
  });

  test('it starts from the Node version that the workspace pins', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: { node: string };
    };
    expect(stages.at(-1)?.from).toMatch(new RegExp(`^node:${dependencies.node.split('.')[0]}-`));
  });

  test('it excludes secrets, history, data and tests from the image', () => {
    for (const file of ['.git/HEAD', '.env', 'data/demo-key']) expect(context).not.toContain(file);
    expect(context.filter((file) => file.endsWith('.test.ts'))).toEqual([]);
  });
});

/** The user of the database. */
function loginOf(name: string): string {
  return new URL(compose.services[name]?.environment?.['DATABASE_URL'] ?? '').username;
}

describe('docker-compose.yml', () => {
  test('it runs Postgres, migrations, indexer, API and webhooks, and a node only by profile', () => {
    expect(Object.keys(compose.services).sort()).toEqual([
      'api',
      'indexer',
      'kaspad',
      'logins',
      'migrate',
      'postgres',
      'secrets',
      'webhooks',
    ]);
    expect(services.filter(([, { profiles }]) => profiles !== undefined).map(([name]) => name)).toEqual(['kaspad']);
  });

  test.each(services)('it defines every target, dependency, volume, network and script of service %s', (_, service) => {
    if (service.build !== undefined) {
      expect(service.build.context).toBe('.');
      expect(stages.map(({ name }) => name)).toContain(service.build.target);
    } else if (service.image === 'kasgres') {
      expect(compose.services['migrate']).toMatchObject({ image: 'kasgres', build: { target: 'kasgres' } });
    } else {
      expect(service.image).toMatch(/:[^:]*\d/);
    }
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(compose.services).toHaveProperty(name);
      if (condition === 'service_healthy') expect(compose.services[name]).toHaveProperty('healthcheck');
    }
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':');
      if (source.startsWith('./')) expect(existsSync(join(ROOT, source)), source).toBe(true);
      else expect(compose.volumes).toHaveProperty(source);
    }
    for (const network of service.networks ?? []) expect(compose.networks).toHaveProperty(network);
    const [, script] = service.entrypoint ?? [];
    if (script === undefined) return;
    const mount = (service.volumes ?? [])
      .map((volume) => volume.split(':'))
      .find(([, target]) => script.startsWith(`${target}/`));
    expect(existsSync(join(ROOT, script.replace(mount?.[1] ?? '', mount?.[0] ?? ''))), script).toBe(true);
  });

  test.each(services)('it runs service %s read-only, without capabilities, and with limits', (name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      logging: { driver: 'json-file', options: { 'max-size': '20m', 'max-file': '5' } },
    });
    expect(service.tmpfs).toContain('/tmp');
    expect(service.privileged).toBeUndefined();
    expect(service.pids_limit).toBeGreaterThan(0);
    expect(service.mem_limit).toMatch(/^(\d+[mg]|\$\{[A-Z]+_MEMORY:-\d+[mg]\})$/);
    // It gives each file to the user that reads it, and ends.
    expect([name, service.cap_add, service.user === 'root']).toEqual(
      name === 'secrets' ? ['secrets', ['CHOWN', 'DAC_OVERRIDE'], true] : [name, undefined, false],
    );
    // Its image would start as root otherwise.
    if (service.image?.startsWith('postgres:') === true && name !== 'secrets') expect(service.user).toBe('postgres');
  });

  test('it connects Postgres only to an internal network', () => {
    expect(compose.networks['database']).toEqual({ internal: true });
    expect(compose.services['postgres']?.networks).toEqual(['database']);
    expect(compose.services['kaspad']?.networks).toEqual(['node']);
    expect(compose.services['secrets']?.network_mode).toBe('none');
    expect(services.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual(['api']);
    for (const [name, { networks = [] }] of services) {
      expect(networks.includes('front'), name).toBe(name === 'api' || name === 'webhooks');
    }
  });

  test('it runs long-running services under restricted logins without passwords in the environment', () => {
    expect(['indexer', 'api', 'webhooks', 'migrate'].map(loginOf)).toEqual(['indexer', 'api', 'webhooks', 'kasgres']);
    // A permanent problem is not retried for ever.
    const ending = services.filter(([, { restart }]) => restart === 'on-failure:2').map(([name]) => name);
    expect(ending.sort()).toEqual(['logins', 'migrate', 'secrets']);
    for (const [name, { environment = {} }] of services) {
      for (const [variable, value] of Object.entries(environment)) {
        expect(value, `${name} ${variable}`).not.toMatch(/:\/\/[^/]*:[^/]*@/);
        if (name !== 'secrets') expect(value, `${name} ${variable}`).not.toContain('PASSWORD}');
      }
    }
    // Each sees its own secrets only, and changes none.
    for (const name of ['indexer', 'api', 'webhooks', 'migrate']) {
      const [secrets, ...others] = compose.services[name]?.volumes ?? [];
      expect(secrets).toBe(`secrets-${name}:/secrets:ro`);
      expect(others).toEqual(name === 'migrate' ? ['scratch:/home/node'] : []);
    }
  });

  test('it gives `verify` a writable volume for UTXO sets instead of memory', () => {
    const { migrate } = compose.services;
    expect(migrate?.environment?.['TMPDIR']).toBe('/home/node');
    expect(migrate?.volumes).toContain('scratch:/home/node');
    // A new volume takes its owner from the image, where this home belongs to the user that the
    // image runs as.
    expect(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).toMatch(/^USER node$/m);
  });

  test('it requires no variable before the first start', () => {
    expect(composeText).not.toMatch(/\$\{\w+:?\?/);
  });

  test('it has a healthcheck for every long-running service', () => {
    const without = services.filter(([, { healthcheck }]) => healthcheck === undefined).map(([name]) => name);
    expect(without.sort()).toEqual(['logins', 'migrate', 'secrets']);
  });

  test('it explains exactly the used settings in .env.example', () => {
    const used = new Set([...composeText.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    const explained = [...readFileSync(join(ROOT, '.env.example'), 'utf8').matchAll(/^(\w+)=/gm)].map(
      ([, name]) => name,
    );
    expect(new Set(explained)).toEqual(used);
  });
});

describe('the commands of the image in an empty folder', () => {
  let image: string;
  const folders: Record<string, string> = {};

  beforeAll(async () => {
    image = await realpath(await mkdtemp(join(tmpdir(), 'kasgres-image-')));
    for (const name of ['dependencies', 'explorer', 'kasgres']) folders[name] = await buildStage(name);
  }, 600_000);

  afterAll(async () => {
    await rm(image, { recursive: true, force: true });
  });

  /** Does the stage's WORKDIR, COPY and RUN. Its folder /app is a folder here. */
  async function buildStage(name: string): Promise<string> {
    const stage = stages.find((one) => one.name === name);
    if (stage === undefined) throw new Error(`no stage ${name}`);
    const inImage = (path: string): string =>
      path.startsWith('/')
        ? join(image, name, path)
        : `${join(image, name, 'app', path)}${path.endsWith('/') ? '/' : ''}`;
    for (const { name: instruction, text } of stage.instructions) {
      if (instruction === 'COPY') {
        const { from, sources, target } = parseCopy(text);
        if (from === undefined) await copyIntoImage(ROOT, context, sources, inImage(target));
        else
          await cp(join(image, from, sources[0] ?? ''), inImage(target), { recursive: true, verbatimSymlinks: true });
      } else if (instruction === 'RUN') {
        await runFile('sh', ['-c', text], { cwd: inImage('.'), env: commandEnv(), maxBuffer: 2 ** 26 });
      }
    }
    return inImage('.');
  }

  test('it installs the packages of the programs and none of the development tools', () => {
    const folder = folders['kasgres'] ?? '';
    expect(existsSync(join(folder, 'node_modules/fastify'))).toBe(true);
    expect(existsSync(join(folder, 'node_modules/vitest'))).toBe(false);
  });

  test('it contains the built explorer, and not its packages', () => {
    const folder = folders['kasgres'] ?? '';
    expect(existsSync(join(folder, 'packages/explorer/dist/index.html'))).toBe(true);
    expect(existsSync(join(folder, 'packages/explorer/dist/index.html.br'))).toBe(true);
    for (const name of ['preact', 'vite']) expect(existsSync(join(folder, 'node_modules', name))).toBe(false);
  });

  // Its folder /app is the working directory here.
  const entrypoint = (
    JSON.parse(stages.at(-1)?.instructions.find(({ name }) => name === 'ENTRYPOINT')?.text ?? '[]') as string[]
  ).map((word) => word.replace(/^\/app\//, ''));
  const commands = services
    .filter(([, { image }]) => image === 'kasgres')
    .map(([name, { command }]) => ({ name, command: [command ?? []].flat() }));

  test.each([{ name: 'the default', command: [] }, ...commands])(
    'it prints the help of $name: $command --help',
    async ({ command }) => {
      const [program, ...parameters] = [...entrypoint, ...command, '--help'];
      const { stdout } = await runFile(program, parameters, { cwd: folders['kasgres'] ?? '', env: commandEnv() });
      expect(stdout).toContain(['Usage: kasgres', ...command].join(' '));
    },
  );

  test.each(['indexer', 'api'])('it loads the code of %s and reports the missing DATABASE_URL', async (program) => {
    const parameters = [...entrypoint.slice(1), program];
    const run = runFile(entrypoint[0] ?? '', parameters, { cwd: folders['kasgres'] ?? '', env: commandEnv() });
    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('DATABASE_URL: is not set') as string,
    });
  });
});

/**
 * The environment of a fresh image: ours without what would point a program at a database or a
 * node.
 */
function commandEnv(): NodeJS.ProcessEnv {
  const { NODE_URL: _, DATABASE_URL: __, NODE_ENV: ___, ...env } = process.env;
  return { ...env, npm_config_prefer_offline: 'true' };
}
