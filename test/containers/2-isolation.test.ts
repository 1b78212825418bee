/**
 * The limits of a container: processes, memory, logs, files, the network, and the rights of its
 * login.
 */
import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { compose, engine, inspect, LONG_RUNNING, PROGRAMS, query, shell, tryShell } from './operator.ts';
import { run } from './run.ts';

const NAMESPACE = 'kasgres-outside';
const [OUTSIDE_GATEWAY, OUTSIDE] = ['198.51.100.1', '198.51.100.2'];
const DEFAULT_ROUTE = '00000000';
const ALL = [...LONG_RUNNING, 'secrets', 'migrate', 'logins'] as const;

describe.skipIf(engine.missing !== undefined)('a container', () => {
  test.each(ALL)('%s has limits, no capabilities and a root that it cannot write', async (service) => {
    const host = await inspect<Record<string, unknown>>(service, '.HostConfig');
    expect(host).toMatchObject({
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true'],
      PidsLimit: 200,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '20m', 'max-file': '5' } },
    });
    expect(host['Memory']).toBeGreaterThan(0);
  });

  test.each(LONG_RUNNING)('%s runs without root and capabilities, and writes only to its volumes', async (service) => {
    // The first process; the shell of `exec` would show its own.
    const status = await compose(`exec -T ${service} cat /proc/1/status`);
    expect(status).toMatch(service === 'postgres' ? /^Uid:\s999\s/m : /^Uid:\s1000\s/m);
    expect(status).toMatch(/^CapEff:\s0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s1$/m);
    for (const path of [
      '/app/x',
      '/usr/x',
      '/etc/x',
      ...(service === 'postgres' ? ['/secrets/postgres/x'] : ['/secrets/x']),
    ]) {
      const { code, output } = await tryShell(`docker compose exec -T ${service} sh -c 'touch ${path}'`);
      expect([service, path, code === 0, output]).toMatchObject([
        service,
        path,
        false,
        expect.stringMatching(/Read-only|No such file/),
      ]);
    }
  });

  test('it can start no more than its number of processes', async () => {
    expect((await tryShell(start(50))).output).not.toMatch(/fork/i);
    expect((await tryShell(start(300))).output).toMatch(/fork/i);
    await expect.poll(async () => (await tryShell('docker compose exec -T webhooks true')).code).toBe(0);
  });

  test('it gets no more than its memory', async () => {
    // The limit of webhooks is 512 MB.
    expect((await tryShell(allocate(100))).output).toContain('allocated');
    const { code, output } = await tryShell(allocate(900));
    expect(output).not.toContain('allocated');
    expect(code).toBe(137);
  });

  test('Postgres reaches its network only', async () => {
    expect((await tryShell(connect('postgres', 'api', 9100))).code).toBe(0);
    // Not the other networks of the composition.
    const { 'kasgres-test_node': node } = await inspect<Record<string, { IPAddress: string }>>(
      'simulated-node',
      '.NetworkSettings.Networks',
    );
    expect((await tryShell(connect('indexer', node?.IPAddress, 16110))).code).toBe(0);
    expect((await tryShell(connect('postgres', node?.IPAddress, 16110))).code).not.toBe(0);
  });

  test.runIf(engine.isOwn)('Postgres has no way out of the machine, and webhooks have one', async () => {
    const outside = await startOutside();
    try {
      await expect.poll(async () => (await tryShell(connect('webhooks', OUTSIDE, 8080))).code).toBe(0);
      expect((await tryShell(connect('postgres', OUTSIDE, 8080))).code).not.toBe(0);
    } finally {
      await outside.stop();
    }
  });

  test.skipIf(engine.isOwn)('Postgres has no route out of its network, and the others have one', async () => {
    // Engines before 23 give internal networks a default route, and drop what is sent there.
    expect(await routes('postgres')).not.toContain(DEFAULT_ROUTE);
    for (const service of PROGRAMS) expect(await routes(service), service).toContain(DEFAULT_ROUTE);
  });

  test('only the API is reachable from this machine, at its loopback address', async () => {
    const published = await shell(
      `docker ps --filter label=com.docker.compose.project=$COMPOSE_PROJECT_NAME --format '{{.Ports}}'`,
    );
    expect(published.split('\n').filter((ports) => ports.includes('->'))).toEqual([
      expect.stringMatching(/^127\.0\.0\.1:\d+->3000\/tcp$/),
    ]);
  });

  test.each(PROGRAMS)('%s sees no password but its own', async (service) => {
    const environment = await compose(`exec -T ${service} cat /proc/1/environ`);
    expect(environment).not.toMatch(/password/i);
    const files = (await compose(`exec -T ${service} ls /secrets`)).split('\n').sort();
    expect(files).toEqual(service === 'indexer' ? ['pgpass'] : ['pgpass', 'webhook-secret-key']);
    expect(await compose(`exec -T ${service} cut -d: -f4 /secrets/pgpass`)).toBe(service);
  });

  /** Statements that the login may run, and that it may not. */
  test.each([
    ['indexer', 'select count(*) from tags', 'select count(*) from api_keys'],
    ['indexer', 'select count(*) from blocks', 'select count(*) from webhooks'],
    ['indexer', 'analyze blocks', `update migrations set checksum = ''`],
    ['api', 'select count(*) from api_keys', `update api_keys set name = 'mine'`],
    ['api', 'select count(*) from webhooks', 'delete from blocks'],
    ['api', 'select count(*) from blocks', 'drop table blocks'],
    ['webhooks', 'select count(id) from api_keys', 'select * from api_keys'],
    ['webhooks', 'select count(*) from blocks', 'delete from blocks'],
    ['webhooks', 'select count(*) from webhooks', `create role mine superuser`],
  ] as const)('the login of %s may %j, and not %j', async (login, allowed, denied) => {
    await runAs(login, allowed);
    await expect(runAs(login, denied)).rejects.toThrow(/permission denied|must be owner|not permitted/);
  });

  test('no login is a superuser but the owner', async () => {
    const superusers = await query(
      'select rolname from pg_roles where rolsuper or rolcreaterole or rolcreatedb or rolbypassrls',
    );
    expect(superusers).toBe('kasgres');
  });

  test('the commands of the owner are closed to the programs', async () => {
    for (const command of ['keys create mine', 'migrate --end-blocking-sessions all']) {
      const { code, output } = await tryShell(
        `docker compose exec -T api node /app/packages/cli/bin/kasgres.js ${command}`,
      );
      expect([code, output]).toEqual([1, expect.stringMatching(/permission denied|must be owner|Grant the role/)]);
    }
  });
});

/** Logs in from the container of the program, with what it has there. */
async function runAs(login: string, sql: string): Promise<string> {
  const script = `
    const { Client } = require('/app/node_modules/pg');
    const line = require('fs').readFileSync('/secrets/pgpass', 'utf8').trim().split(':');
    const client = new Client({ host: 'postgres', database: 'kasgres', user: line[3], password: line[4] });
    client.connect().then(() => client.query(process.argv[1])).then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1); });`;
  return await shell(
    `docker compose exec -T ${login} node -e '${script.replaceAll("'", `'"'"'`)}' ${JSON.stringify(sql)}`,
  );
}

const start = (count: number): string =>
  `docker compose exec -T webhooks sh -c 'for i in $(seq ${count}); do sleep 3 & done; wait'`;

const allocate = (megabytes: number): string =>
  `docker compose exec -T webhooks node -e "const all=[];for(let i=0;i<${megabytes};i++)all.push(Buffer.alloc(1048576,1));console.log('allocated')"`;

const routes = async (service: string): Promise<string[]> =>
  (await compose(`exec -T ${service} cat /proc/net/route`))
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/)[1] ?? '');

const connect = (from: string, host = '', port: number): string =>
  `docker compose exec -T ${from} timeout 5 bash -c 'exec 3<>/dev/tcp/${host}/${port}'`;

/**
 * Starts a server on another machine, as the containers see it: a network namespace behind a link,
 * with an address for documentation.
 */
async function startOutside(): Promise<{ stop: () => Promise<void> }> {
  await run(`
    ip netns add ${NAMESPACE}
    ip link add kasgres0 type veth peer name kasgres1 netns ${NAMESPACE}
    ip address add ${OUTSIDE_GATEWAY}/30 dev kasgres0
    ip link set kasgres0 up
    ip -n ${NAMESPACE} address add ${OUTSIDE}/30 dev kasgres1
    ip -n ${NAMESPACE} link set kasgres1 up
    ip -n ${NAMESPACE} route add default via ${OUTSIDE_GATEWAY}`);
  const server = `require('net').createServer((socket) => socket.end()).listen(8080)`;
  const child = spawn('ip', ['netns', 'exec', NAMESPACE, process.execPath, '-e', server], { stdio: 'ignore' });
  return {
    stop: async () => {
      child.kill();
      // The link goes with it.
      await run(`ip netns delete ${NAMESPACE}`);
    },
  };
}
