/**
 * `kasgres sql` opens psql if it is installed, and else a small prompt. It only reads: the session
 * belongs to a user that may not write. If the user of DATABASE_URL may write and cannot create a
 * restricted one, each statement of that prompt runs in a read-only transaction.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { connect, makeReader } from '@kasgres/database';
import { libpqUrl } from '@kasgres/runtime';
import type { PoolClient } from 'pg';
import { print, printMessage, textTable } from '../command-line.ts';

/** As for analysts, `blocks` is the view kaspa.blocks. The table is public.blocks. */
const SEARCH_PATH = 'kaspa,public';
const CONNECTION_VARIABLES =
  /^PG(HOSTADDR|SERVICE|SERVICEFILE|TARGETSESSIONATTRS|LOADBALANCEHOSTS|SSL[A-Z]*|REQUIRE(?:SSL|AUTH|PEER)|CHANNELBINDING|GSSENCMODE)$/u;
const SETTINGS = `-c default_transaction_read_only=on -c search_path=${SEARCH_PATH}`;

export async function runSql(databaseUrl: string, sql: string | undefined): Promise<number> {
  const reader = await makeReader(databaseUrl);
  if (reader.mayMakeLargeObjects) {
    const database = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
    printMessage(
      `This session can create large objects, since every user of this database may. A superuser can prevent that: psql -d ${database} -c "select admit_analysts()"`,
    );
  }
  try {
    const code = reader.isRestricted ? await runPsql(reader.url, sql) : undefined;
    return code ?? (await runPrompt(reader.url, sql, reader.isRestricted));
  } finally {
    await reader.close();
  }
}

/** Returns the exit code of psql; undefined if it is not installed. */
async function runPsql(databaseUrl: string, sql: string | undefined): Promise<number | undefined> {
  // Every user of the machine can read command lines, so the password is passed in the environment.
  const url = new URL(libpqUrl(databaseUrl));
  const password = decodeURIComponent(url.password);
  url.password = '';
  // Commands run inside psql must not see the credentials of another user.
  const { DATABASE_URL: _, PGPASSWORD: __, ...inherited } = withoutConnection(process.env);
  const env = {
    ...inherited,
    ...(password !== '' && { PGPASSWORD: password }),
    PGOPTIONS: [process.env['PGOPTIONS'], SETTINGS].filter(Boolean).join(' '),
  };
  const psql = spawn('psql', [url.toString(), ...(sql === undefined ? [] : ['--command', sql])], {
    env,
    stdio: 'inherit',
  });
  // Ctrl-C in psql cancels a query and must not stop this process.
  process.on('SIGINT', ignore);
  try {
    const [code] = (await once(psql, 'exit')) as [number | null];
    return code ?? 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    process.off('SIGINT', ignore);
  }
}

/**
 * The address says where to connect, and how. Leaves out variables that libpq would follow
 * elsewhere.
 */
function withoutConnection(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !CONNECTION_VARIABLES.test(name)));
}

function ignore(): void {}

async function runPrompt(databaseUrl: string, sql: string | undefined, isRestricted: boolean): Promise<number> {
  const database = connect({ url: databaseUrl, max: 1, applicationName: 'kasgres sql' });
  try {
    const client = await database.pool.connect();
    try {
      await client.query(`set default_transaction_read_only = on; set search_path = ${SEARCH_PATH}`);
      const run = (text: string): Promise<string> => runStatements(client, text, isRestricted);
      if (sql === undefined) await prompt(run);
      else print(await run(sql));
      return 0;
    } finally {
      client.release();
    }
  } catch (error) {
    printMessage(errorText(error));
    return 1;
  } finally {
    await database.close();
  }
}

/** Reads statements that end with a semicolon, until \q or the end of the input. */
async function prompt(run: (text: string) => Promise<string>): Promise<void> {
  const isTerminal = process.stdin.isTTY;
  const lines = createInterface({ input: process.stdin, ...(isTerminal && { output: process.stdout }) });
  if (isTerminal) print('Read-only SQL. End a statement with ";", and the session with \\q.');
  const showPrompt = (text: string): void => {
    if (!isTerminal) return;
    lines.setPrompt(text);
    lines.prompt();
  };
  let statement = '';
  showPrompt('kasgres=> ');
  for await (const line of lines) {
    if (statement === '' && line.trim() === '\\q') break;
    statement += `${line}\n`;
    if (!line.trimEnd().endsWith(';')) {
      showPrompt('kasgres-> ');
      continue;
    }
    print(await run(statement).catch(errorText));
    statement = '';
    showPrompt('kasgres=> ');
  }
  lines.close();
}

interface Result {
  command: string;
  fields: { name: string }[];
  rows: unknown[][];
}

/**
 * Returns a table for each statement. A user who may write can run only one at a time, in a
 * read-only transaction.
 */
async function runStatements(client: PoolClient, text: string, isRestricted: boolean): Promise<string> {
  const query = async (queryMode?: 'extended'): Promise<Result | Result[]> => {
    // The types of pg do not have `queryMode`.
    const config: { text: string; rowMode: 'array'; queryMode?: string | undefined } = {
      text,
      rowMode: 'array',
      queryMode,
    };
    return await client.query<unknown[]>(config);
  };
  if (isRestricted) return [await query()].flat().map(resultText).join('\n\n');
  await client.query('begin transaction read only; select');
  try {
    // The extended protocol accepts only one statement, and a transaction cannot become writable
    // after its first query.
    return [await query('extended')].flat().map(resultText).join('\n\n');
  } finally {
    // Commits, so that `set` has an effect. It is harmless in a failed or finished transaction.
    await client.query('commit');
  }
}

function resultText({ command, fields, rows }: Result): string {
  if (fields.length === 0) return command;
  const columns = fields.map(({ name }) => name);
  return `${textTable(columns, rows)}\n(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`;
}

function errorText(error: unknown): string {
  return `ERROR: ${error instanceof Error ? error.message : String(error)}`;
}
