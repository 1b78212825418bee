/**
 * The services of docker-compose.yml one after the other on a real Postgres, each with the
 * environment and the secrets that it has there, but without containers: the first start needs
 * nothing by hand, and the programs that stay have no more rights than their roles.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Connection, connect } from '@kasgres/database';
import { type EmbeddedPostgres, startTemporaryPostgres } from '@kasgres/database/embedded';
import { NodeClient } from '@kasgres/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ApiClient } from '../support/api-client.ts';
import { untilAtRest } from '../support/harness.ts';
import { startApi, startIndexer } from '../support/programs.ts';
import { SimulatedDag } from '../support/simulated-dag.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const COMMAND = join(ROOT, 'packages/cli/bin/kasgres.js');
const SERVICES = ['postgres', 'migrate', 'indexer', 'api', 'webhooks'];
const hasPsql = spawnSync('psql', ['--version']).status === 0;
const run = promisify(execFile);

interface Service {
  environment: Record<string, string>;
  entrypoint: string[];
  command: string[];
}

const { services } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
};

let postgres: EmbeddedPostgres;
let secrets: string;
let database: Connection;
beforeAll(async () => {
  postgres = await startTemporaryPostgres();
  secrets = await mkdtemp(join(tmpdir(), 'kasgres-secrets-'));
  for (const name of SERVICES) await mkdir(join(secrets, name));
  database = connect({ url: postgres.url, applicationName: 'kasgres test', max: 2 });
}, 60_000);
afterAll(async () => {
  await database.close();
  await postgres.stop();
  await rm(secrets, { recursive: true });
});

/** The environment of a service here: Postgres and the secrets are elsewhere. */
function environmentOf(name: string): Record<string, string> {
  const { hostname, port } = new URL(postgres.url);
  const here = Object.entries(services[name]?.environment ?? {}).map(([variable, value]) => [
    variable,
    value
      .replace('@postgres:5432/kasgres', `@${hostname}:${port}${new URL(postgres.url).pathname}`)
      .replace(/^postgres$/, hostname)
      .replace(/^\/secrets\/postgres/, join(secrets, 'postgres'))
      .replace(/^\/secrets/, join(secrets, name))
      .replace(/\$\{\w+:-([^}]*)\}/, '$1'),
  ]);
  return { ...(Object.fromEntries(here) as Record<string, string>), PGPORT: port, PATH: process.env['PATH'] ?? '' };
}

/** The variables that a program reads to reach Postgres. */
function programEnvironment(name: string): Record<string, string> {
  const { DATABASE_URL = '', PGPASSFILE = '' } = environmentOf(name);
  return { DATABASE_URL, PGPASSFILE };
}

async function makeSecrets(password: string): Promise<void> {
  const env = { ...environmentOf('secrets'), POSTGRES_PASSWORD: password, SECRETS: secrets };
  await run('sh', [join(ROOT, 'ops/compose/make-secrets.sh')], { env });
}

async function makeLogins(): Promise<void> {
  const env = {
    ...environmentOf('logins'),
    SECRETS: secrets,
    OPS: join(ROOT, 'ops'),
    PGDATABASE: new URL(postgres.url).pathname.slice(1),
  };
  await run('sh', [join(ROOT, 'ops/compose/make-logins.sh')], { env });
}

async function kasgres(service: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [COMMAND, ...args], { env: environmentOf(service) });
  return stdout.trim();
}

test('it gives Postgres the settings that docs/operations.md recommends', async () => {
  const flags = (services['postgres']?.command ?? []).slice(1).map((flag) => flag.replace(/^--/, '').split('='));
  const document = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  expect(new Set(flags.map(([name]) => name))).toEqual(
    new Set(['shared_buffers', 'max_wal_size', 'checkpoint_timeout', 'wal_compression', 'random_page_cost']),
  );
  for (const [name = '', value = ''] of flags) {
    const [, recommended = ''] = new RegExp(`^\\| \`${name}\` \\| ([^|]+) \\|`, 'm').exec(document) ?? [];
    if (name === 'shared_buffers') expect(recommended).toBe('a quarter of the memory');
    else expect(recommended).toContain(value);
  }
});

test('it creates the secrets once, each for one reader', async () => {
  await makeSecrets('');
  const files = [
    'postgres/owner',
    'postgres/indexer',
    'postgres/api',
    'postgres/pgpass',
    'migrate/pgpass',
    'indexer/pgpass',
    'api/pgpass',
    'webhooks/pgpass',
    'api/webhook-secret-key',
    'webhooks/webhook-secret-key',
  ];
  const read = async (): Promise<string[]> =>
    await Promise.all(files.map((file) => readFile(join(secrets, file), 'utf8')));
  const first = await read();
  expect(first[0]).toMatch(/^[0-9a-f]{48}$/);
  expect(new Set(first.slice(0, 3)).size).toBe(3);
  expect(first[5]).toBe(`*:*:*:indexer:${first[1]}\n`);
  expect(Buffer.from(String(first[8]), 'base64')).toHaveLength(32);
  expect(first[9]).toBe(first[8]);
  for (const file of files) expect((await stat(join(secrets, file))).mode & 0o77, file).toBe(0);
  await makeSecrets('');
  expect(await read()).toEqual(first);
  // A password that differs from the one of the database is refused, and the file keeps the old
  // one.
  await expect(makeSecrets('another')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('POSTGRES_PASSWORD is not the password') as string,
  });
  expect(await read()).toEqual(first);
  await makeSecrets(String(first[0]));
  expect(await read()).toEqual(first);
});

test('it keeps a restored key of webhooks, and gives it to both programs', async () => {
  const restored = `${Buffer.alloc(32, 7).toString('base64')}\n`;
  await writeFile(join(secrets, 'api/webhook-secret-key'), restored);
  await makeSecrets('');
  for (const name of ['api', 'webhooks']) {
    expect(await readFile(join(secrets, name, 'webhook-secret-key'), 'utf8')).toBe(restored);
  }
});

test('it takes the password of a database that was created with one, before the first start', async () => {
  const { username, password } = new URL(postgres.url);
  expect(username).toBe('kasgres');
  for (const chosen of ['pa:ss\\word', password]) {
    await rm(join(secrets, 'postgres/owner'));
    await makeSecrets(chosen);
    expect(await readFile(join(secrets, 'migrate/pgpass'), 'utf8')).toBe(
      `*:*:*:kasgres:${chosen.replaceAll(/[\\:]/g, '\\$&')}\n`,
    );
  }
});

test.runIf(hasPsql)(
  'it runs migrations, logins, indexer and API one after the other, twice',
  { timeout: 180_000 },
  async () => {
    const simulatedDag = await SimulatedDag.start('compose', undefined, { commitsToUtxos: true });
    simulatedDag.mine(60);
    const node = new NodeClient({ url: simulatedDag.server.url });
    const ends: (() => unknown)[] = [() => simulatedDag.stop(), () => node.close()];
    try {
      for (const round of [1, 2]) {
        expect(await kasgres('migrate', 'migrate')).toMatch(round === 1 ? /^Applied/ : 'The schema is up to date.');
        await makeLogins();
        const env = { nodeUrl: simulatedDag.server.url, databaseUrl: '' };
        const indexer = startIndexer(env, { ...programEnvironment('indexer'), NODE_P2P_URL: simulatedDag.p2p.url });
        ends.push(() => indexer.stop());
        await untilAtRest(database.pool, node, indexer);
        const key = await kasgres('migrate', 'keys', 'create', `key-${round}`);
        const { program, url } = await startApi(env, undefined, programEnvironment('api'));
        ends.push(() => program.stop());
        const response = await new ApiClient(url, key).request('/v1/blocks?limit=1');
        expect(response.status).toBe(200);
        const { rows } = await database.pool.query<{ usename: string; is_free: boolean }>(
          `select distinct usename, (r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolbypassrls
                  or pg_has_role(r.oid, (select datdba from pg_database
                    where datname = current_database()), 'member')) as is_free
           from pg_stat_activity s join pg_roles r on r.oid = s.usesysid
             where application_name ~ '^kasgres (indexer|api|clustering)'`,
        );
        expect(rows.sort((a, b) => (a.usename < b.usename ? -1 : 1))).toEqual([
          { usename: 'api', is_free: false },
          { usename: 'indexer', is_free: false },
        ]);
        await program.stop();
        await indexer.stop();
        for (const each of [program, indexer]) expect(each.output()).not.toContain('permission denied');
        simulatedDag.mine(10);
      }
      // Neither can do the other's work, nor that of the owner.
      await expect(kasgres('api', 'keys', 'create', 'mine')).rejects.toMatchObject({ code: 1 });
      await expect(kasgres('indexer', 'migrate')).rejects.toMatchObject({ code: 1 });
    } finally {
      for (const end of ends.reverse()) await end();
    }
  },
);
