/**
 * `kasgres sql` cannot write, for any input: as the owner of the database with psql and without, as
 * a program's login that may not make another login, and as an analyst.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/kasgres.js', import.meta.url));
const ROLES_SQL = readFileSync(new URL('../../ops/roles.sql', import.meta.url), 'utf8');
const hasPsql = spawnSync('psql', ['--version']).status === 0;
const suffix = randomBytes(6).toString('hex');
const logins = { indexer: `sql_indexer_${suffix}`, analyst: `sql_analyst_${suffix}`, owner: `sql_owner_${suffix}` };

vi.setConfig({ testTimeout: 120_000 });

let database: TestDatabase;
let ownerUrl: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  await pool.query(ROLES_SQL);
  await pool.query(`insert into tags (address, name) values ('kaspasim:a', 'Ann')`);
  await pool.query(
    `create role ${logins.indexer} login password '${suffix}' in role kasgres_indexer;
     create role ${logins.analyst} login password '${suffix}' in role kasgres_analyst;
     create role ${logins.owner} login createrole password '${suffix}';
     grant kasgres_indexer to ${logins.owner}`,
  );
  const { rows } = await pool.query<{ statement: string }>(
    `select format('alter database %I owner to ${logins.owner}', current_database()) as statement
     union all select 'alter schema kaspa owner to ${logins.owner}'
     union all select format('alter table %s owner to ${logins.owner}', oid::regclass) from pg_class
      where relkind in ('r', 'v')
        and relnamespace in ('kaspa'::regnamespace, 'public'::regnamespace)
        and pg_get_userbyid(relowner) <> 'kasgres_indexer'`,
  );
  for (const { statement } of rows) await pool.query(statement);
  ownerUrl = urlOf(logins.owner);
});
afterAll(async () => {
  await database.drop();
  // They own what was in it.
  const other = await createTestDatabase({ empty: true });
  for (const login of Object.values(logins)) await other.pool.query(`drop role if exists ${login}`);
  await other.drop();
});

function urlOf(login: string): string {
  return Object.assign(new URL(database.url), { username: login, password: suffix }).toString();
}

interface Session {
  url: () => string;
  /** Whether psql is found. */
  psql: boolean;
}

const SESSIONS: Record<string, Session> = {
  ...(hasPsql && { 'a superuser in psql': { url: () => database.url, psql: true } }),
  ...(hasPsql && { 'an owner who is no superuser in psql': { url: () => ownerUrl, psql: true } }),
  'a superuser without psql': { url: () => database.url, psql: false },
  'the login of the indexer': { url: () => urlOf(logins.indexer), psql: hasPsql },
  'the login of an analyst': { url: () => urlOf(logins.analyst), psql: false },
};

async function type({ url, psql }: Session, input: string, ...args: string[]): Promise<string> {
  const program = spawn(process.execPath, [COMMAND, 'sql', ...args], {
    env: { PATH: psql ? process.env['PATH'] : '', DATABASE_URL: url() },
  });
  let output = '';
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (data) => (output += String(data)));
  program.stdin.end(`${input}\n`);
  await once(program, 'close');
  return output;
}

/** Everything that a session could change, as the attempts below try it. */
async function describeDatabase(): Promise<unknown> {
  const { rows } = await database.pool.query(
    `select (select array_agg(address || name order by 1) from tags) as tags,
            (select count(*)::integer from pg_class) as relations,
            (select array_agg(rolname order by 1) from pg_roles
              where rolname like 'kasgres_sql_%' or rolname = 'mallory') as roles,
            (select count(*)::integer from pg_largeobject_metadata) as large_objects,
            pg_is_in_recovery() as recovery, current_setting('deadlock_timeout') as setting`,
  );
  return rows[0];
}

const WRITE = `delete from public.tags;`;
const ATTEMPTS: string[] = [
  WRITE,
  `set default_transaction_read_only = off;\n${WRITE}`,
  `set default_transaction_read_only = off; ${WRITE}`,
  `commit; ${WRITE}`,
  `commit;\n${WRITE}`,
  `rollback;\nbegin read write;\n${WRITE}\ncommit;`,
  `begin read write; ${WRITE} commit;`,
  `set transaction read write;\n${WRITE}`,
  `set session characteristics as transaction read write;\n${WRITE}`,
  `commit and chain;\nset transaction read write;\n${WRITE}\ncommit;`,
  `reset role;\nreset session authorization;\nset role kasgres_indexer;\nset default_transaction_read_only = off;\n${WRITE}`,
  `select set_config('transaction_read_only', 'off', false),
    set_config('default_transaction_read_only', 'off', false);\n${WRITE}`,
  `do $$ begin set transaction_read_only = off; delete from public.tags; end $$;`,
  `do $$ begin commit; set transaction_read_only = off; delete from public.tags; commit; end $$;`,
  `set default_transaction_read_only = off;\ncreate table public.mine ();\ncreate table kaspa.mine ();\ncreate schema mine;`,
  `set default_transaction_read_only = off;\ndrop table public.tags cascade;\ntruncate public.blocks;\nalter table public.tags rename to mine;`,
  `set default_transaction_read_only = off;\ncreate role mallory superuser;\nalter role current_user superuser;`,
  `set default_transaction_read_only = off;\nselect lo_create(0);`,
  `alter system set deadlock_timeout = '7s';\nselect pg_reload_conf();`,
  `set default_transaction_read_only = off;\ncopy public.tags (address, name) from program 'echo x,y' with csv;\ncopy (select 1) to program 'psql -c "drop table tags"';`,
];

describe.each(Object.entries(SESSIONS))('%s', (_, session) => {
  test('it can read, and settings last for the session', async () => {
    const input = `select 40 + 2 as result, count(*) from blocks;\nset work_mem = '77MB';\nshow work_mem;`;
    expect(await type(session, input)).toMatch(/result[\s\S]*42[\s\S]*77MB/);
    expect(await type(session, '', '--command', 'select 40 + 2 as result')).toMatch(/result[\s\S]*42/);
  });

  test('it cannot write', async () => {
    const before = await describeDatabase();
    // Each in the state that a session begins with.
    const output = await type(session, ATTEMPTS.map((input) => `rollback;\n${input}\n`).join(''));
    expect(output.match(/ERROR/g)?.length).toBeGreaterThanOrEqual(ATTEMPTS.length);
    expect(await describeDatabase()).toEqual(before);
  });
});

const session = (url: string): Session => ({ url: () => url, psql: hasPsql });

describe('large objects, which Postgres lets everybody create', () => {
  const attempt = `set default_transaction_read_only = off;\nselect lo_create(0) > 0 as made;`;

  test('it denies large objects after a migration by a superuser, also before ops/roles.sql ran', async () => {
    const migrated = await createTestDatabase();
    try {
      const output = await type(session(migrated.url), attempt);
      expect(output).toContain('permission denied for function lo_create');
      expect(output).not.toContain('can make large objects');
    } finally {
      await migrated.drop();
    }
  });

  test('it warns about large objects where only a superuser can deny them, with the command', async () => {
    const migrated = await createTestDatabase();
    try {
      await migrated.pool.query('grant execute on function lo_create(oid) to public');
      const output = await type(session(migrated.url), 'select 42 as result;');
      expect(output).toContain('This session can create large objects');
      expect(output).toContain('42');
      await migrated.pool.query('select admit_analysts()');
      expect(await type(session(migrated.url), attempt)).toContain('permission denied for function lo_create');
    } finally {
      await migrated.drop();
    }
  });
});

test.runIf(hasPsql)('it hides the password and address of the owner from a shell in psql', async () => {
  const output = await type({ url: () => ownerUrl, psql: true }, '\\! env');
  expect(output).toContain('PGPASSWORD=');
  expect(output).not.toContain(suffix + '@');
  expect(output).not.toContain(`PGPASSWORD=${suffix}`);
});

test.runIf(hasPsql)('it removes the expired login of a killed process in the next session', async () => {
  await database.pool.query(
    `create role kasgres_sql_0123456789abcdef login valid until '2020-01-01'; grant select
      on tags to kasgres_sql_0123456789abcdef`,
  );
  await type({ url: () => database.url, psql: true }, 'select 1;');
  expect(await describeDatabase()).toMatchObject({ roles: null });
});
