/**
 * Logins that `kasgres analysts` makes, as people use them: they see schema kaspa and nothing else,
 * write nothing anywhere, and are held to their limits by the indexer's watch regardless of their
 * settings.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrate } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { createMetrics } from '@kasgres/indexer';
import { watchAnalysts, watchNotificationQueue } from '@kasgres/indexer/testing';
import { createLogger, createRegistry, sleep } from '@kasgres/runtime';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/kasgres.js', import.meta.url));
const INSUFFICIENT_PRIVILEGE = '42501';
const suffix = randomBytes(6).toString('hex');
const ALICE = `alice_${suffix}`;
const TIMEOUT_SECONDS = 2;
/** The time that the watch may add: two of its pauses, and time on a busy machine. */
const GRACE_MS = 20_000;

/** Made for another application, which did not close it. */
const OTHER = `other_${suffix}`;

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query(`create database ${OTHER}`);
  url = await analysts('create', ALICE, '--timeout', `${TIMEOUT_SECONDS}s`, '--connections', '3');
});
afterAll(async () => {
  await database.pool.query(`drop database ${OTHER} with (force)`);
  await database.pool.query(`drop role if exists ${ALICE}`);
  await database.drop();
});

function inDatabase(address: string, name: string): string {
  return Object.assign(new URL(address), { pathname: `/${name}` }).toString();
}

async function asOwner(name: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: inDatabase(database.url, name) });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Returns the output of the command; rejects with its message if it fails. */
async function analysts(...args: string[]): Promise<string> {
  return await analystsAs(database.url, ...args);
}

async function analystsAs(databaseUrl: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, 'analysts', ...args], { env });
  return stdout.trim();
}

async function withLogin<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  // A session that is ended tells its client twice: by the statement, and by the connection.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** @returns 'done', or the SQLSTATE */
async function attempt(...statements: string[]): Promise<string> {
  return await withLogin(async (client) => {
    try {
      for (const statement of statements) await client.query(statement);
      return 'done';
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  });
}

/** How it ended, within the limit and what the watch adds to it. */
async function endOf(...statements: string[]): Promise<string> {
  const startedAt = performance.now();
  const end = await attempt(
    'set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set default_transaction_read_only = off',
    ...statements,
  );
  expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_SECONDS * 1000 + GRACE_MS);
  return end;
}

test('it prints only the URL, and lists the login with its limits but without the password', async () => {
  expect(url).toMatch(new RegExp(`^postgresql://${ALICE}:[0-9a-f]{48}@\\S+$`));
  const list = await analysts('list');
  expect(list).toMatch(new RegExp(`${ALICE} +${TIMEOUT_SECONDS} s +3 `));
  expect(list).not.toContain(new URL(url).password);
});

test.each([
  [['create', ALICE], 'already'],
  [['create', 'Alice'], 'lower-case'],
  [['create', 'pg_alice'], 'pg_'],
  [['create', 'a', '--timeout', '0s'], '1s to 24h'],
  [['create', 'a', '--connections', 'many'], 'whole number'],
  [['remove', 'kasgres_analyst'], 'no analyst'],
  [['remove', 'nobody'], 'no analyst'],
])('%j is refused with an explanation', async (args, words) => {
  await expect(analysts(...args)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(words) as string });
});

test('it reports that the user may not create roles', async () => {
  const owner = `owner_${suffix}`;
  await database.pool.query(`create role ${owner} login password '${suffix}'`);
  await database.pool.query(`grant all on schema public to ${owner}; grant select on migrations to ${owner}`);
  try {
    const address = new URL(database.url);
    address.username = owner;
    address.password = suffix;
    await expect(analystsAs(address.toString(), 'create', `bob_${suffix}`)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('may not') as string,
    });
  } finally {
    await database.pool.query(`drop owned by ${owner}; drop role ${owner}`);
  }
});

test('it lets an analyst read every view without the schema name and call every function', async () => {
  await withLogin(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'kaspa'::regnamespace`,
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const { name } of rows) await client.query(`select * from ${name} limit 1`);
    const functions = `select schema_version() as version, balance_at('x', now()) as balance,
      automatic_labels('x') as labels`;
    expect((await client.query(functions)).rows).toEqual([{ version: 1, balance: null, labels: null }]);
  });
});

describe('writes by an analyst', () => {
  test.each([
    'insert into kaspa.tags (address, name) values (1, 1)',
    'delete from kaspa.tags',
    'create table kaspa.mine (id integer)',
    'create table public.mine (id integer)',
    'create schema mine',
    'create temporary table mine (id integer)',
    'create function pg_temp.mine() returns integer language sql as $$ select 1 $$',
    `select lo_from_bytea(0, 'x')`,
    'select lo_create(0)',
    'select lo_creat(-1)',
    `select lo_import('/etc/hosts')`,
    `select lo_put(1, 0, 'x')`,
    `select lowrite(0, 'x')`,
    'select pg_export_snapshot()',
    `select pg_notify('x', 'x')`,
    'select pg_current_xact_id()',
    'select txid_current()',
    'do $$ begin loop raise warning $w$%$w$, 1; end loop; end $$',
    'reset role; set session authorization default; set role kasgres',
    'alter role kasgres_analyst set work_mem = $$1GB$$',
    'set temp_file_limit = -1',
    'set log_min_messages = debug5',
    `alter role ${ALICE} reset temp_file_limit`,
    `alter role ${ALICE} set log_min_error_statement = error`,
    `alter role ${ALICE} connection limit -1`,
    'select pg_advisory_lock(1)',
    `select pg_logical_emit_message(false, 'x', 'x')`,
    `copy (select 1) to program 'true'`,
  ])('%s', async (statement) => {
    expect(await attempt('set default_transaction_read_only = off', statement)).toBe(INSUFFICIENT_PRIVILEGE);
  });
});

describe('the visibility of other data to an analyst', () => {
  test('it denies access to every table, by name and by the catalog', async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'm')`,
    );
    expect(rows.map(({ name }) => name)).toContain('api_keys');
    for (const { name } of rows) {
      expect(await attempt(`select from public.${name}`), name).toBe(INSUFFICIENT_PRIVILEGE);
      const { rows: granted } = await database.pool.query<{ granted: boolean }>(
        `select has_table_privilege($1, $2, 'select,insert,update,delete,truncate,references,trigger') as granted`,
        [ALICE, `public.${name}`],
      );
      expect(granted, name).toEqual([{ granted: false }]);
    }
  });

  test.each(['select public.cluster_of(1)', `select public.automatic_labels(1)`, 'select public.admit_analysts()'])(
    'it denies calls of functions in schema public: %s',
    async (statement) => {
      expect(await attempt(statement)).toBe(INSUFFICIENT_PRIVILEGE);
    },
  );

  test('it hides the queries of other sessions, also of other analysts', async () => {
    const bob = await analysts('create', `bob_${suffix}`);
    const other = new Client({ connectionString: bob });
    await other.connect();
    try {
      await other.query(`select 'a secret of bob'`);
      await database.pool.query(`select 'a secret of the owner'`);
      const seen = await withLogin(async (client) => {
        const { rows } = await client.query<{ query: string }>(
          'select query from pg_stat_activity where pid <> pg_backend_pid()',
        );
        return rows.map(({ query }) => query);
      });
      expect(seen.length).toBeGreaterThan(1);
      expect(seen.filter((query) => query.includes('secret'))).toEqual([]);
    } finally {
      await other.end();
      expect(await analysts('remove', `bob_${suffix}`)).toBe(`Removed bob_${suffix}.`);
    }
  });
});

describe('the limits of an analyst', () => {
  test('it applies the limits of connections and temporary files and the initial timeout', async () => {
    expect(await attempt('select pg_sleep(60)')).toBe('57014');
    const { rows } = await withLogin((client) =>
      client.query(
        `select current_setting('temp_file_limit') as files, current_setting('log_min_messages') as messages,
           current_setting('log_min_error_statement') as statements`,
      ),
    );
    // 10 GB over three connections.
    expect(rows).toEqual([{ files: '3495254kB', messages: 'fatal', statements: 'panic' }]);
    const open = Array.from({ length: 3 }, () => new Client({ connectionString: url }));
    try {
      for (const client of open) await client.connect();
      await expect(withLogin(async () => undefined)).rejects.toMatchObject({ code: '53300' });
    } finally {
      for (const client of open) await client.end();
    }
  });

  test('it ends a session that holds the queue of notifications in a transaction', async () => {
    const ending = new AbortController();
    const warn = vi.fn<(fields: object, message: string) => void>();
    const log = Object.assign(createLogger({ name: 'watch under test', level: 'silent' }), { warn });
    const metrics = createMetrics(createRegistry('watch under test'));
    const holder = new Client({ connectionString: url });
    holder.on('error', () => undefined);
    await holder.connect();
    const ended = new Promise((resolve) => holder.once('end', resolve));
    await holder.query('listen anything');
    await holder.query('begin');
    await database.pool.query(
      `select pg_notify('anything', number || repeat('x', 7000)) from generate_series(1, 200) number`,
    );
    const watching = watchNotificationQueue({ database, log, metrics }, ending.signal, { limit: 0, pauseMs: 50 });
    await ended;
    ending.abort();
    await watching;
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ login: ALICE }),
      'terminated the session of an analyst that held the queue of notifications',
    );
    const { values } = await metrics.notificationQueue.get();
    expect(values[0]?.value).toBeGreaterThan(0);
  });

  describe('switched off by the session', () => {
    const ending = new AbortController();
    const lines: Record<string, unknown>[] = [];
    let watching: Promise<void>;
    beforeAll(() => {
      const log = createLogger({ name: 'watch under test', level: 'silent' });
      const remembering = Object.assign(Object.create(log) as typeof log, {
        warn: (fields: object, msg: string) => lines.push({ ...fields, msg }),
      });
      watching = watchAnalysts({ database, log: remembering }, ending.signal);
    });
    afterAll(async () => {
      ending.abort();
      await watching;
    });

    test('it cancels a long statement, and the log names the login', async () => {
      expect(await endOf('select pg_sleep(120)')).toBe('57014');
      // The log comes after the end.
      await expect
        .poll(() => lines, { timeout: 5000 })
        .toContainEqual(expect.objectContaining({ login: ALICE, what: 'statement', limitSeconds: TIMEOUT_SECONDS }));
    });

    test('it cancels a long statement after the login changed its own settings permanently', async () => {
      await attempt('set default_transaction_read_only = off', `alter role ${ALICE} set statement_timeout = 0`);
      expect(await endOf('select pg_sleep(120)')).toBe('57014');
      await database.pool.query(`alter role ${ALICE} set statement_timeout = '${TIMEOUT_SECONDS}s'`);
    });

    test('it ends the session of a statement that survives the cancellation', async () => {
      // Where no superuser took that away, everybody can.
      await database.pool.query(`grant usage on language plpgsql to ${ALICE}`);
      const stubborn = `do $$ begin loop begin perform pg_sleep(120); exception when query_canceled then null; end; end loop; end $$`;
      expect(await endOf(stubborn)).toBe('57P01');
      await database.pool.query(`revoke usage on language plpgsql from ${ALICE}`);
    });

    test('it ends a session in a database that was not granted to the login', async () => {
      const connectThere = async (): Promise<Client> => {
        const client = new Client({ connectionString: inDatabase(url, OTHER) });
        client.on('error', () => undefined);
        await client.connect();
        return client;
      };
      const line = expect.objectContaining({ login: ALICE, what: 'other database' }) as unknown;
      // Indexers of other tests on this server terminate such sessions, too, so several may be
      // needed until this one logs it.
      await vi.waitFor(
        async () => {
          const client = await connectThere();
          const ended = new Promise((resolve) => client.once('end', resolve));
          const waited = sleep(GRACE_MS).then(() => 'still there');
          expect(await Promise.race([ended, waited])).not.toBe('still there');
          // The log comes after the end.
          await sleep(500);
          expect(lines).toContainEqual(line);
        },
        { timeout: 60_000, interval: 100 },
      );

      await database.pool.query(`grant connect on database ${OTHER} to ${ALICE}`);
      const given = await connectThere();
      await sleep(5_000);
      expect((await given.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
      await given.end();
      await database.pool.query(`revoke connect on database ${OTHER} from ${ALICE}`);
    });

    test('it ends the session of an idle transaction', async () => {
      await withLogin(async (client) => {
        await client.query('set idle_in_transaction_session_timeout = 0; begin; select 1');
        const ended = new Promise((resolve) => client.once('end', resolve));
        const waited = sleep(TIMEOUT_SECONDS * 1000 + GRACE_MS).then(() => 'still there');
        expect(await Promise.race([ended, waited])).not.toBe('still there');
      });
    });

    test('it ends the session of an endless transaction, regardless of its settings', async () => {
      await withLogin(async (client) => {
        await client.query('set statement_timeout = 0; begin');
        const startedAt = performance.now();
        const ask = async (): Promise<never> => {
          for (;;) await client.query('select pg_sleep(0.2)');
        };
        await expect(ask()).rejects.toThrow();
        expect(performance.now() - startedAt).toBeLessThan(10 * TIMEOUT_SECONDS * 1000 + GRACE_MS);
      });
    });

    test('it leaves the sessions of other users alone', async () => {
      await database.pool.query(`select pg_sleep(${TIMEOUT_SECONDS * 3})`);
      expect(lines.filter(({ login }) => login !== ALICE)).toEqual([]);
    });
  });
});

describe('other databases of the server', () => {
  test.each(['postgres', 'template1'])('it denies connections to database %s', async (name) => {
    const client = new Client({ connectionString: inDatabase(url, name) });
    await expect(client.connect()).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
  });

  test('it prints the command that closes a database of another owner', async () => {
    const carol = `carol_${suffix}`;
    const env = { PATH: process.env['PATH'], DATABASE_URL: database.url };
    const { stderr } = await promisify(execFile)(process.execPath, [COMMAND, 'analysts', 'create', carol], { env });
    await analysts('remove', carol);
    expect(stderr).toMatch(/^WARNING: analysts can connect to other databases of this server/m);
    expect(stderr).toContain(`revoke connect, temporary on database ${OTHER} from public;`);
    expect(stderr).not.toContain('database postgres from public');
  });
});

describe('removing a login', () => {
  const dave = `dave_${suffix}`;
  const isThere = async (): Promise<boolean> =>
    (await database.pool.query('select from pg_roles where rolname = $1', [dave])).rowCount === 1;

  test('it removes a login that has privileges elsewhere', async () => {
    await analysts('create', dave);
    await database.pool.query(`grant select on blocks to ${dave}`);
    await asOwner(OTHER, 'create table report (id integer)', `grant select on report to ${dave}`);
    expect(await analysts('remove', dave)).toBe(`Removed ${dave}.`);
    expect(await isThere()).toBe(false);
    await asOwner(OTHER, 'drop table report');
  });

  test('it refuses to remove a login that owns objects unless told to drop them', async () => {
    const address = await analysts('create', dave);
    const own = new Client({ connectionString: inDatabase(address, OTHER) });
    await own.connect();
    await own.query('set default_transaction_read_only = off');
    await own.query(`select lo_from_bytea(0, 'x'), lo_from_bytea(0, 'y')`);
    await own.end();
    await asOwner(OTHER, 'create table report (id integer)', `alter table report owner to ${dave}`);
    await expect(analysts('remove', dave)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `${dave} owns 3 objects in database ${OTHER}, and nothing was changed. \`kasgres analysts remove ${dave} --drop-owned\``,
      ) as string,
    });
    expect(await analysts('list')).toContain(dave);
    expect(await analysts('remove', dave, '--drop-owned')).toBe(`Removed ${dave}.`);
    expect(await isThere()).toBe(false);
    await asOwner(
      OTHER,
      `do $$ begin assert to_regclass('report') is null and not exists (select from pg_largeobject_metadata); end $$`,
    );
  });

  test('it creates and removes a login whose name is a reserved word', async () => {
    const client = new Client({ connectionString: await analysts('create', 'lateral') });
    await client.connect();
    expect((await client.query('show search_path')).rows).toEqual([{ search_path: 'kaspa' }]);
    await client.end();
    expect(await analysts('remove', 'lateral')).toBe('Removed lateral.');
  });

  test('it completes a removal that failed halfway', async () => {
    await analysts('create', dave);
    await database.pool.query(`alter role ${dave} nologin`);
    expect(await analysts('remove', dave)).toBe(`Removed ${dave}.`);
    expect(await isThere()).toBe(false);
  });
});

test('it lets an owner without superuser rights create and remove logins, and prints the steps for a superuser', async () => {
  const owner = `owner2_${suffix}`;
  const name = `owned_${suffix}`;
  const erin = `erin_${suffix}`;
  await database.pool.query(`create role ${owner} login createrole password '${suffix}'`);
  await database.pool.query(`create database ${name} owner ${owner}`);
  const address = Object.assign(new URL(inDatabase(database.url, name)), {
    username: owner,
    password: suffix,
  }).toString();
  try {
    // Roles are the server's: who made the first ones has to share them.
    await database.pool.query(
      `do $$ begin create role kasgres_analyst; exception when duplicate_object then null; end $$;
       grant kasgres_analyst to ${owner} with admin option`,
    );
    await migrate(address);
    const env = { PATH: process.env['PATH'], DATABASE_URL: address };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [COMMAND, 'analysts', 'create', erin], {
      env,
    });
    expect(stdout).toContain(erin);
    expect(stderr).toContain(`psql -d ${name} -c "select admit_analysts()"`);
    expect(stderr).toContain(
      `A superuser can prevent it: alter role "${erin}" set temp_file_limit = '2097152kB'; alter role "${erin}" set log_min`,
    );
    expect(stderr).not.toContain('no privileges could be revoked');
    // The advice of the warning helps.
    await asOwner(name, 'select admit_analysts()');
    const client = new Client({ connectionString: stdout.trim() });
    // The removal ends its session.
    client.on('error', () => undefined);
    await client.connect();
    await client.query('set default_transaction_read_only = off');
    await expect(client.query('select lo_create(0)')).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
    // And the owner can still migrate.
    expect(await migrate(address)).toEqual([]);
    expect(await analystsAs(address, 'remove', erin)).toBe(`Removed ${erin}.`);
    await client.end().catch(() => undefined);
  } finally {
    await database.pool.query(`drop database ${name} with (force)`);
    await database.pool.query(`drop role if exists ${erin}; drop owned by ${owner}; drop role ${owner}`);
  }
});

test('an analyst keeps own tables in a schema that the owner made, beside the views', async () => {
  const erin = `erin_${suffix}`;
  const client = new Client({ connectionString: await analysts('create', erin) });
  await client.connect();
  try {
    await asOwner(
      new URL(database.url).pathname.slice(1),
      `create schema ${erin}`,
      `grant usage, create on schema ${erin} to ${erin}`,
    );
    await expect(client.query(`create table ${erin}.watched (address text)`)).rejects.toMatchObject({ code: '25006' });
    await client.query('set default_transaction_read_only = off');
    await client.query(`create table ${erin}.watched (address text)`);
    await client.query(`insert into ${erin}.watched select address from addresses limit 10`);
    await client.query(`select * from ${erin}.watched left join addresses using (address)`);
    for (const schema of ['kaspa', 'public']) {
      const created = client.query(`create table ${schema}.other (address text)`);
      await expect(created).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
    }
  } finally {
    await client.end();
  }
  await expect(analysts('remove', erin)).rejects.toThrow(`${erin} owns 1 objects`);
  expect(await analysts('remove', erin, '--drop-owned')).toBe(`Removed ${erin}.`);
});
