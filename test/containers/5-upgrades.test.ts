/**
 * Upgrades of the image over the same volumes by docs/operations.md: while the API serves, with a
 * migration that fails, and back.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commandsOf, linesOf } from './documents.ts';
import {
  compose,
  createKey,
  engine,
  findApi,
  follow,
  inspect,
  lastLine,
  query,
  request,
  set,
  tryShell,
  untilFollowing,
  untilHealthy,
  write,
} from './operator.ts';

const TRIES = 3;
const LONG_SECONDS = 25;
/**
 * Writers of the table wait while the index is built, until the transaction ends. A lock that
 * blocks readers could not be had behind that: the indexer has read the table, and waits.
 */
const LONG_MIGRATION = `
create index transactions_test_idx on transactions (id) where id < 0;
select pg_sleep(${LONG_SECONDS});`;
/**
 * How long the API may be away for its own restart: 10 seconds if nothing else is running, and
 * several times that on a busy machine.
 */
const AWAY_MS = 90_000;
const POLL_MS = 100;

describe.skipIf(engine.missing !== undefined)('an upgrade', () => {
  const [script = ''] = commandsOf('docs/operations.md', 'Upgrades of containers');
  const steps = linesOf(script);
  const next = engine.missing === undefined ? nextMigration() : '';
  const migrationFile = `migrations/${next}_test.sql`;
  let key: string;

  beforeEach(async () => {
    key ??= await createKey('upgrades');
    await findApi();
  });
  afterEach(async () => await untilHealthy());

  test('it leaves everything as it was if the migration fails, and says why at last', async () => {
    write(migrationFile, `alter table blocks add column upgraded integer; select 1 / 0;`);
    const before = await inspect<string>('api', '.Id');
    const { code, output } = await tryShell(steps.join('\n'));
    expect(code).not.toBe(0);
    expect(output.trimEnd().split('\n').at(-1)).toMatch(
      /^Migration \d+_test failed and was rolled back: division by zero/,
    );
    expect(await inspect('api', '.Id')).toBe(before);
    expect((await request('/v1/blocks?limit=1', key)).status).toBe(200);
    expect(await query(`select count(*) from migrations where name like '%_test'`)).toBe('0');
  });

  test('`up` with such a migration ends after three tries, with the reason in the log', async () => {
    const { code, output } = await tryShell('docker compose up -d --build');
    expect(code).not.toBe(0);
    expect(output).toMatch(/migrate.* didn't complete successfully/);
    const lines = (await follow('docker compose logs migrate')).trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('failed and was rolled back'))).toHaveLength(TRIES);
    expect(await lastLine('migrate')).toMatch(/failed and was rolled back: division by zero/);
    expect(await inspect('migrate', '.State.Status')).toBe('exited');
    rmSync(join(engine.folder, migrationFile));
    await compose('up -d --build');
  });

  test('it keeps the API up during a long migration, and replaces it within seconds', async () => {
    write(migrationFile, LONG_MIGRATION);
    const polling = new AbortController();
    const polled = pollApi(polling.signal);
    let replacedAt: number | undefined;
    for (const step of steps) {
      const isReplacement = step.includes('up -d');
      // The next step would be too early to see that the programs also work with the new schema.
      if (isReplacement) await untilFollowing();
      const started = performance.now();
      if (isReplacement) replacedAt ??= started;
      await follow(step);
      if (step.endsWith('migrate')) expect(performance.now() - started).toBeGreaterThan(LONG_SECONDS * 1_000);
    }
    await untilHealthy();
    await untilFollowing();
    polling.abort();
    const failures = await polled;
    expect(failures.filter((at) => at < (replacedAt ?? 0))).toEqual([]);
    const [first = 0, last = 0] = [failures[0], failures.at(-1)];
    console.log(`the API was away for ${Math.round((last - first) / 100) / 10} s of the upgrade`);
    expect(last - first).toBeLessThan(AWAY_MS);
    expect(await query(`select count(*) from migrations where name like '%_test'`)).toBe('1');
    expect((await tryShell('docker compose run --rm migrate verify --without-utxos')).code).toBe(0);
  });

  test('an older image refuses the database and changes nothing, and the newer one continues', async () => {
    const text = await query('select count(*), max(number) from migrations');
    rmSync(join(engine.folder, migrationFile));
    const { code } = await tryShell('docker compose up -d --build');
    expect(code).not.toBe(0);
    expect(await lastLine('migrate')).toMatch(/schema is newer than this program/);
    expect(await query('select count(*), max(number) from migrations')).toBe(text);
    write(migrationFile, LONG_MIGRATION);
    await compose('up -d --build');
    await untilHealthy();
    await untilFollowing();
  });

  test('a password that is set later is refused and destroys nothing', async () => {
    const stored = 'run --rm -T --no-deps --entrypoint cat secrets /secrets/postgres/owner';
    const password = await compose(stored);
    set({ POSTGRES_PASSWORD: `another pass': word` });
    const { code } = await tryShell('docker compose up -d');
    expect(code).not.toBe(0);
    expect(await lastLine('secrets')).toMatch(/POSTGRES_PASSWORD is not the password .* see "Passwords in containers"/);
    expect(await compose(stored)).toBe(password);
    set({ POSTGRES_PASSWORD: undefined });
    await compose('up -d');
    await untilHealthy();
    await findApi();
    expect((await request('/v1/blocks?limit=1', key)).status).toBe(200);

    set({ POSTGRES_PASSWORD: `another pass': word` });
    for (const commands of commandsOf('docs/operations.md', 'Passwords in containers')) await follow(commands);
    expect(await compose(stored)).toBe(`another pass': word`);
    expect(await inspect('migrate', '.State.ExitCode')).toBe(0);
    set({ POSTGRES_PASSWORD: undefined });
    await compose('up -d');
    expect(await compose(stored)).toBe(`another pass': word`);
    await untilHealthy();
  });

  /** Returns when requests failed. */
  async function pollApi(signal: AbortSignal): Promise<number[]> {
    const failures: number[] = [];
    while (!signal.aborted) {
      const response = await request('/v1/blocks?limit=1', key).catch(() => undefined);
      if (response?.status !== 200) {
        failures.push(performance.now());
        await findApi().catch(() => undefined);
      }
      await sleep(POLL_MS);
    }
    return failures;
  }
});

function nextMigration(): string {
  const count = readdirSync(join(engine.folder, 'migrations')).filter((file) => file.endsWith('.sql')).length;
  return String(count + 1).padStart(4, '0');
}
