/**
 * The first start in an empty engine by the commands of the README, and what the image and the
 * containers are then.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { commandsOf } from './documents.ts';
import {
  compose,
  engine,
  follow,
  inspect,
  LONG_RUNNING,
  lastLine,
  PROGRAMS,
  request,
  set,
  shell,
  tryShell,
  untilFollowing,
  untilHealthy,
  write,
} from './operator.ts';

const ONCE = ['secrets', 'migrate', 'logins'] as const;
const MB = 1_000_000;
const LARGEST_MB = { own: 60, all: 400 };
const UNNAMED = 'docker image ls --quiet --filter dangling=true';

describe.skipIf(engine.missing !== undefined)('the first start', () => {
  let unnamedBefore: string;
  beforeAll(async () => {
    unnamedBefore = await shell(UNNAMED);
    set({ NODE_URL: 'grpc://simulated-node:16110', API_PORT: '0', ANONYMOUS_RATE_RU: '1000' });
    // The node has a separate name in the network of nodes, and its chain survives a restart.
    write(
      'docker-compose.override.yml',
      `services:
  simulated-node:
    image: kasgres
    pull_policy: never
    entrypoint: ["node", "/app/packages/devnet/src/main.ts"]
    command: ["--listen=0.0.0.0:16110", "--past-blocks=400", "--past-transactions=1500"]
    environment: { DATA_DIR: /home/node }
    volumes: ["simulated-node:/home/node"]
    networks: [node]
    restart: unless-stopped
volumes:
  simulated-node:
`,
    );
  });

  test('it has a configuration without warnings', async () => {
    const { code, output } = await tryShell('docker compose --profile kaspad config --quiet');
    expect({ code, output }).toEqual({ code: 0, output: '' });
  });

  test('it runs the engine that the documents name as the oldest, if it is its own', async () => {
    const [, dockerMinimum = '', composeMinimum = '', buildx = ''] =
      /needs Docker\s+Engine ([\d.]+) or newer with the plugins Compose ([\d.]+) and buildx ([\d.]+) or newer/.exec(
        readFileSync(join(engine.folder, 'docs/operations.md'), 'utf8'),
      ) ?? [];
    const versions = {
      engine: await shell(`docker version --format '{{.Server.Version}}'`),
      compose: await compose('version --short'),
      buildx: (await shell('docker buildx version')).split(' ')[1] ?? '',
    };
    console.log(`tried with ${JSON.stringify(versions)}`);
    if (!engine.isOwn) return;
    expect([versions.engine, versions.compose, versions.buildx].map(short)).toEqual([
      dockerMinimum,
      composeMinimum,
      buildx,
    ]);
    const readme = readFileSync(join(engine.folder, 'README.md'), 'utf8').replaceAll(/\s+/g, ' ');
    expect(readme).toContain(
      `It was tried with Docker Engine ${patch(versions.engine)}, Compose ${patch(versions.compose)} and buildx ${patch(versions.buildx)}`,
    );
  });

  test('it starts everything by the commands of the README, and creates a key', async () => {
    const [script = ''] = commandsOf('README.md', 'In containers');
    const started = Date.now();
    const output = await follow(script);
    console.log(`the commands of the README took ${Math.round((Date.now() - started) / 1_000)} s`);
    const [key] = /kdp_\w+/.exec(output) ?? [];
    await untilHealthy();
    await untilFollowing();
    expect((await request('/v1/blocks?limit=1', key)).status).toBe(200);
    expect((await request('/v1/blocks?limit=1', 'kdp_wrong')).status).toBe(401);
  });

  test('it ends the services that run once, and each says what it did without warnings', async () => {
    for (const service of ONCE) expect(await inspect(service, '.State.ExitCode'), service).toBe(0);
    expect(await lastLine('migrate')).toMatch(/^Applied .*0001_schema/);
    expect(await compose('logs')).not.toMatch(/deprecat|permission denied|read-only file system/i);
  });

  test('it builds one image once, small, with one id', async () => {
    const ids = new Set<string>();
    for (const service of [...PROGRAMS, 'migrate']) ids.add(await inspect(service, '.Image'));
    expect(ids.size).toBe(1);
    const base = 'node:24-bookworm-slim';
    // An engine with a registry has the base in its build cache only.
    if (!engine.hasStandIns) await shell(`docker pull --quiet ${base}`);
    expect((await layers('kasgres')).slice(0, (await layers(base)).length)).toEqual(await layers(base));
    const [all, own] = [await size('kasgres'), (await size('kasgres')) - (await size(base))];
    console.log(`the image has ${Math.round(all / MB)} MB, of which ${Math.round(own / MB)} MB are its own`);
    expect(own).toBeLessThan(LARGEST_MB.own * MB);
    expect(all).toBeLessThan(LARGEST_MB.all * MB);
    // Builds by several services would leave images without a name.
    expect(await shell(UNNAMED)).toBe(unnamedBefore);
  });

  test('it changes nothing at the second start', async () => {
    const before = await startTimes();
    await compose('up -d');
    expect(await startTimes()).toEqual(before);
  });

  test('it recreates only the services that read a variable', async () => {
    const before = await startTimes();
    set({ RETENTION: '90d' });
    await compose('up -d');
    const after = await startTimes();
    const changed = LONG_RUNNING.filter((service) => before[service] !== after[service]);
    expect(changed).toEqual(['indexer']);
    set({ RETENTION: undefined, NODE_URL: 'grpc://simulated-node:16110,grpc://kaspad:16110' });
    const { services } = JSON.parse(await compose('config --format json')) as {
      services: Record<string, { environment?: Record<string, string> }>;
    };
    const withNode = Object.keys(services).filter((name) => 'NODE_URL' in (services[name]?.environment ?? {}));
    expect(withNode.sort()).toEqual(['api', 'indexer']);
    set({ NODE_URL: 'grpc://simulated-node:16110' });
    await compose('up -d');
    await untilHealthy();
  });
});

async function startTimes(): Promise<Record<string, string>> {
  const times: Record<string, string> = {};
  for (const service of LONG_RUNNING) times[service] = await inspect(service, '(printf "%s %s" .Id .State.StartedAt)');
  return times;
}

async function layers(image: string): Promise<string[]> {
  return JSON.parse(await shell(`docker image inspect --format '{{json .RootFS.Layers}}' ${image}`)) as string[];
}

async function size(image: string): Promise<number> {
  return Number(await shell(`docker image inspect --format '{{.Size}}' ${image}`));
}

const short = (version: string): string => version.split('.').slice(0, 2).join('.');

const patch = (version: string): string => version.split(/[-+]/)[0] ?? '';
