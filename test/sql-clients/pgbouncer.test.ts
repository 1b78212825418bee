/**
 * The programs refuse PgBouncer in transaction mode, whether it drops their settings or refuses
 * them, since requests would fail or return something else now and then. Analysts may use it.
 */
import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest';
import { freePort, type ProgramEnv, startApiProgram, startIndexer } from '../support/programs.ts';

/**
 * Startup parameters that a pooler may ignore for node-postgres, other than the settings of the
 * programs.
 */
const PARAMETERS = 'extra_float_digits,statement_timeout';
const NODE_URL = 'grpc://127.0.0.1:1';

let database: TestDatabase;
const cleanUp: (() => Promise<unknown> | void)[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  for (const step of cleanUp.reverse()) await step();
  await database.drop();
});

/** Returns the URL of the database behind a PgBouncer. */
async function startPgBouncer(context: TestContext, ignored: string): Promise<string> {
  const missing = await promisify(execFile)('pgbouncer', ['--version']).then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (missing !== undefined) context.skip(`PgBouncer is not installed: ${missing}`);
  const url = new URL(database.url);
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'kasgres-pgbouncer-'));
  chmodSync(directory, 0o755);
  const file = join(directory, 'pgbouncer.ini');
  const upstream = `host=${url.hostname} port=${url.port} user=${url.username} password=${url.password}`;
  writeFileSync(
    file,
    `[databases]\n* = ${upstream}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\n` +
      `auth_type = any\npool_mode = transaction\nignore_startup_parameters = ${ignored}\n`,
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const pooler = spawn('pgbouncer', [...user, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [pooler.stdout, pooler.stderr]) stream.on('data', (part) => (output += String(part)));
  cleanUp.push(() => {
    pooler.kill();
    rmSync(directory, { recursive: true });
  });
  for (let attempt = 0; !(await isListening(port)); attempt += 1) {
    if (attempt > 100 || pooler.exitCode !== null) throw new Error(`PgBouncer does not listen: ${output}`);
    await sleep(50);
  }
  return Object.assign(url, { port: String(port) }).href;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Starts the indexer and the API, and expects them to exit with an explanation. */
async function expectRefusal(env: ProgramEnv, explanation: string): Promise<void> {
  for (const start of [startIndexer, startApiProgram]) {
    const program = start(env);
    expect(await program.exited).toBeGreaterThan(0);
    expect(program.output()).toContain(explanation);
  }
}

test('the indexer and the API exit if PgBouncer drops their settings, and say so', async (context) => {
  const env = { nodeUrl: NODE_URL, databaseUrl: await startPgBouncer(context, `${PARAMETERS},options`) };
  await expectRefusal(env, 'a pooler such as PgBouncer dropped them');
});

test('they exit if PgBouncer refuses their settings, and say what it said', async (context) => {
  const env = { nodeUrl: NODE_URL, databaseUrl: await startPgBouncer(context, 'extra_float_digits') };
  await expectRefusal(env, 'a pooler such as PgBouncer refused them: unsupported startup parameter');
});

test('a client of analysts reads through it', async (context) => {
  const client = new Client({ connectionString: await startPgBouncer(context, 'extra_float_digits') });
  await client.connect();
  const { rows } = await client.query<{ version: number }>('select kaspa.schema_version() as version');
  await client.end();
  expect(rows).toEqual([{ version: 1 }]);
});
