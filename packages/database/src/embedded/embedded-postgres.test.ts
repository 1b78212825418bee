/**
 * The embedded Postgres under what happens to processes: ended, killed in every combination,
 * started twice.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '@kasgres/runtime';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';

const isRoot = process.getuid?.() === 0;
const MODULE = new URL('embedded-postgres.ts', import.meta.url).href;

let folder: string;
let dataDir: string;
const cleanUps: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kasgres-embedded-'));
  await chmod(folder, 0o755);
  dataDir = join(folder, 'data');
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  await rm(folder, { recursive: true });
});

async function start(directory = dataDir): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir: directory });
  cleanUps.push(async () => await postgres.stop());
  return postgres;
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Starts a process that starts Postgres and waits, to be killed by a test. */
async function startInProcess(
  call = `startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} })`,
  account?: { uid: number; gid: number },
): Promise<{ child: ChildProcess; url: string; directory: string }> {
  const source = `
    const { startEmbeddedPostgres, startTemporaryPostgres } = await import(${JSON.stringify(MODULE)});
    const { url, directory } = await ${call};
    console.log(JSON.stringify({ url, directory }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...account,
  });
  cleanUps.push(async () => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { child, ...(JSON.parse(line.toString()) as { url: string; directory: string }) };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function readPostmasterPid(directory: string): Promise<number> {
  return Number((await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

/**
 * Kills the supervisor and everything under it but the postmaster: nobody is left to hear that the
 * parent is gone.
 */
async function killSupervisor(postmaster: number): Promise<void> {
  const supervisor = await findSupervisor(postmaster);
  const children = await readFile(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8');
  for (const pid of [...children.trim().split(' ').map(Number), supervisor]) {
    if (pid !== postmaster) process.kill(pid, 'SIGKILL');
  }
}

/** The shell above the postmaster: its parent. */
async function findSupervisor(postmaster: number): Promise<number> {
  return Number(/^PPid:\s*(\d+)$/m.exec(await readFile(`/proc/${postmaster}/status`, 'utf8'))?.[1]);
}

async function waitUntilGone(pid: number): Promise<void> {
  while (await stat(`/proc/${pid}/exe`).catch(() => undefined)) await sleep(20);
}

test('the data persists for the next start, and only the owner can read the password', async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 42 as n');
  const password = join(first.directory, 'password');
  expect((await stat(password)).mode & 0o777).toBe(0o600);
  expect(new URL(first.url).password).toBe(await readFile(password, 'utf8'));
  await first.stop();
  expect(await first.exited).toBe(0);

  const second = await start();
  expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
  expect(await readdir(dataDir)).toEqual(['cluster', 'postgres.log']);
});

test('an immediate stop does not wait for a checkpoint, and loses nothing', async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 42 as n');
  await first.stop({ immediate: true });
  const log = await readFile(join(dataDir, 'postgres.log'), 'utf8');
  expect(log).toContain('received immediate shutdown request');
  expect(await query((await start()).url, 'select n from kept')).toEqual([{ n: 42 }]);
});

test('it requires the password, listens only on the loopback address, and has no socket', async () => {
  const { url } = await start();
  const withoutPassword = new URL(url);
  withoutPassword.password = 'guess';
  await expect(query(withoutPassword.toString(), 'select 1')).rejects.toThrow('password authentication failed');
  expect(await query(url, `select distinct auth_method as method from pg_hba_file_rules`)).toEqual([
    { method: 'scram-sha-256' },
  ]);
  expect(
    await query(
      url,
      `select current_setting('listen_addresses') as a, current_setting('unix_socket_directories') as s`,
    ),
  ).toEqual([{ a: '127.0.0.1', s: '' }]);
});

test('two servers run side by side', async () => {
  const [one, two] = await Promise.all([start(join(folder, 'one')), start(join(folder, 'two'))]);
  expect(one.port).not.toBe(two.port);
  expect(await Promise.all([query(one.url, 'select 1 as n'), query(two.url, 'select 2 as n')])).toEqual([
    [{ n: 1 }],
    [{ n: 2 }],
  ]);
});

test('a long path with spaces and quotes works', async () => {
  const { url } = await start(join(folder, `it's a "path" with $blanks ${'x'.repeat(150)}`));
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
});

test('it rejects a second start on the same directory, and the first one keeps running', async () => {
  const { url } = await start();
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow('Another Kasgres is using the database');
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
});

test('one of two simultaneous first starts wins, and the other is refused', async () => {
  const outcomes = await Promise.allSettled([start(), start()]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await readdir(dataDir)).toEqual(['cluster', 'postgres.log']);
});

test('a lock file that names an unrelated process is ignored', async () => {
  const first = await start();
  const lockFile = join(first.directory, 'data', 'postmaster.pid');
  const text = await readFile(lockFile, 'utf8');
  await first.stop();
  // Owned by the account of Postgres, as a reused process id may well be: such a process Postgres
  // takes for another of it.
  const { uid, gid } = await stat(first.directory);
  const other = spawn('sleep', ['60'], { cwd: '/', uid, gid });
  cleanUps.push(async () => other.kill());
  await writeFile(lockFile, text.replace(/^\d+/, String(other.pid)));
  await chown(lockFile, uid, gid);
  expect(await query((await start()).url, 'select 1 as n')).toEqual([{ n: 1 }]);
  expect(other.exitCode).toBeNull();
});

test.runIf(isRoot)('as root, in a directory that only root may enter', async () => {
  await chmod(folder, 0o700);
  const first = await start();
  cleanUps.unshift(async () => await rm(first.directory, { recursive: true }));
  expect(first.directory).toMatch(/^\/var\/lib\/kasgres\/cluster-/);
  expect((await lstat(join(dataDir, 'cluster'))).isSymbolicLink()).toBe(true);
  await query(first.url, 'create table kept as select 42 as n');
  await first.stop();
  const second = await start();
  expect(second.directory).toBe(first.directory);
  expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
});

test.runIf(isRoot)('as an ordinary user, and then as root on the same data', async () => {
  const nobody = { uid: 65_534, gid: 65_534 };
  await mkdir(dataDir);
  await chown(dataDir, nobody.uid, nobody.gid);
  const { child, url, directory } = await startInProcess(undefined, nobody);
  await query(url, 'create table kept as select 42 as n');
  expect((await stat(directory)).uid).toBe(nobody.uid);
  const postmaster = await readPostmasterPid(directory);
  await kill(child);
  await waitUntilGone(postmaster);
  expect(await query((await start()).url, 'select n from kept')).toEqual([{ n: 42 }]);
});

// Processes are looked at in /proc.
describe.runIf(process.platform === 'linux')('after kill -9', () => {
  test('of the parent, Postgres shuts down by itself, at once', async () => {
    const { child, url, directory } = await startInProcess();
    await query(url, 'create table kept as select 42 as n');
    const postmaster = await readPostmasterPid(directory);
    const supervisor = await findSupervisor(postmaster);
    await kill(child);
    await Promise.all([waitUntilGone(postmaster), waitUntilGone(supervisor)]);
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toContain('received fast shutdown request');
    expect(await query((await start()).url, 'select n from kept')).toEqual([{ n: 42 }]);
  });

  test('of the parent, the next start need not wait for that', async () => {
    const { child, url } = await startInProcess();
    await query(url, 'create table kept as select 42 as n');
    await kill(child);
    expect(await query((await start()).url, 'select n from kept')).toEqual([{ n: 42 }]);
  });

  test('of parent and supervisor, the next start ends the orphan', async () => {
    const { child, url, directory } = await startInProcess();
    await query(url, 'create table kept as select 42 as n');
    const postmaster = await readPostmasterPid(directory);
    await killSupervisor(postmaster);
    await kill(child);
    expect(await query(url, 'select n from kept')).toEqual([{ n: 42 }]);

    const next = await start();
    await waitUntilGone(postmaster);
    expect(await query(next.url, 'select n from kept')).toEqual([{ n: 42 }]);
  });

  test('of everything, the next start recovers all committed data', async () => {
    const { child, url, directory } = await startInProcess();
    await query(url, 'create table kept as select 42 as n');
    const postmaster = await readPostmasterPid(directory);
    await killSupervisor(postmaster);
    await kill(child);
    process.kill(postmaster, 'SIGKILL');
    expect(await query((await start()).url, 'select n from kept')).toEqual([{ n: 42 }]);
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toContain('automatic recovery in progress');
  });

  test('of Postgres only, the caller is notified', async () => {
    const postgres = await start();
    process.kill(await readPostmasterPid(postgres.directory), 'SIGKILL');
    expect(await postgres.exited).toBe(137);
    expect(await query((await start()).url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('a temporary server leaves no files behind', async () => {
    const { child, directory } = await startInProcess('startTemporaryPostgres()');
    const supervisor = await findSupervisor(await readPostmasterPid(directory));
    await kill(child);
    await waitUntilGone(supervisor);
    await expect(stat(directory)).rejects.toThrow('ENOENT');
  });
});
