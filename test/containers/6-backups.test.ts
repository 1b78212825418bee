/**
 * A backup by docs/operations.md is restored into new volumes, and Postgres is not healthy before
 * it is initialised.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { commandsOf, linesOf } from './documents.ts';
import {
  compose,
  createKey,
  engine,
  follow,
  inspect,
  query,
  request,
  set,
  tryShell,
  untilFollowing,
  untilHealthy,
  write,
} from './operator.ts';
import { createHook, untilDelivered } from './receiver.ts';

const INITIALISATION_SECONDS = 15;
const SELECT_KEPT = `
  select (select count(*) from api_keys), (select count(*) from tags),
    (select count(*) from webhooks),
         (select count(*) from analysts), (select count(*) from blocks where id <= $BLOCKS)`;

describe.skipIf(engine.missing !== undefined)('a backup', () => {
  const [backup = '', restore = '', backupOfKeys = '', restoreKeys = ''] = commandsOf(
    'docs/operations.md',
    'Backup of containers',
  );

  test('it is restored into new volumes with everything in it, and the index continues', async () => {
    await untilFollowing();
    const key = await createKey('backup');
    const hook = await createHook(key);
    await untilDelivered(hook);
    for (const line of linesOf(backup)) await follow(line);
    const blocks = await query('select max(id) from blocks');
    const before = await query(SELECT_KEPT.replace('$BLOCKS', blocks));
    const passwords = await query(`select rolname, rolpassword from pg_authid where rolname = 'ann'`);
    expect(passwords).toContain('SCRAM-SHA-256');
    const keyFile = 'run --rm -T --no-deps --entrypoint cat secrets /secrets/webhooks/webhook-secret-key';
    const webhookKey = await compose(keyFile);

    await removeVolumes();
    slowInitialisation();
    const steps = linesOf(restore);
    for (const step of steps) {
      if (step.includes('--wait postgres')) await expectHealthyAfterInitialisation(step);
      else await follow(step);
    }
    await untilHealthy();
    expect(await query(SELECT_KEPT.replace('$BLOCKS', blocks))).toBe(before);
    expect(await query(`select rolname, rolpassword from pg_authid where rolname = 'ann'`)).toBe(passwords);
    expect(await query(`select rolconfig::text from pg_roles where rolname = 'ann'`)).toContain('statement_timeout');
    await untilFollowing();
    expect((await request('/v1/blocks?limit=1', key)).status).toBe(200);

    // Another start does not overwrite the restored key, with which the secrets in the database are
    // encrypted.
    await compose('up -d');
    expect(await compose(keyFile)).toBe(webhookKey);
    await untilDelivered(hook);
    const { code, output } = await tryShell('docker compose run --rm migrate verify');
    expect(code, output).toBe(0);
    expect(await compose('logs')).not.toMatch(/password authentication failed|permission denied/);
  });

  test('keys and tags are restored into a new index', async () => {
    const key = await createKey('small');
    for (const line of linesOf(backupOfKeys)) await follow(line);
    const tags = await query('select count(*) from tags');
    await removeVolumes();
    await compose('up -d');
    await untilHealthy();
    for (const line of linesOf(restoreKeys)) await follow(line);
    await untilFollowing();
    expect((await request('/v1/blocks?limit=1', key)).status).toBe(200);
    expect(await query('select count(*) from tags')).toBe(tags);
    expect(Number(tags)).toBeGreaterThan(0);
  });
});

/** The node keeps its chain, which the restored index must know. */
async function removeVolumes(): Promise<void> {
  await compose('down');
  const volumes = Object.keys((JSON.parse(await compose('config --format json')) as { volumes: object }).volumes);
  const project = process.env['COMPOSE_PROJECT_NAME'] ?? '';
  const own = volumes.filter((name) => !['simulated-node', 'kaspad'].includes(name));
  const { code, output } = await tryShell(`docker volume rm ${own.map((name) => `${project}_${name}`).join(' ')}`);
  expect(code, output).toBe(0);
}

function slowInitialisation(): void {
  mkdirSync(join(engine.folder, 'initialisation'), { recursive: true });
  write('initialisation/slow.sh', `#!/bin/sh\nsleep ${INITIALISATION_SECONDS}\n`);
  chmodSync(join(engine.folder, 'initialisation/slow.sh'), 0o755);
  write(
    'docker-compose.slow.yml',
    `services: { postgres: { volumes: ["./initialisation:/docker-entrypoint-initdb.d:ro"] } }\n`,
  );
  set({
    COMPOSE_FILE: 'docker-compose.yml:docker-compose.override.yml:docker-compose.receiver.yml:docker-compose.slow.yml',
  });
}

async function expectHealthyAfterInitialisation(step: string): Promise<void> {
  const started = follow(step).then(() => 'healthy');
  let isInitialising = false;
  for (;;) {
    const state = await Promise.race([started, sleep(500, 'waiting')]);
    const { output } = await tryShell(
      `docker compose exec -T postgres psql --username=kasgres --no-psqlrc -Atc "show listen_addresses"`,
    );
    const overSocketOnly = output.trim() === '';
    isInitialising ||= overSocketOnly;
    if (state === 'healthy') {
      expect(output.trim()).toBe('*');
      break;
    }
  }
  // The server of the initialisation was there to be mistaken for the real one.
  expect(isInitialising).toBe(true);
  expect(await inspect('postgres', '.State.Health.Status')).toBe('healthy');
}
