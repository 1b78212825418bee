/**
 * `kasgres sql` opens psql if it is installed, and else a small prompt. It only reads: the session belongs to a user that may not write. If the
 * user of DATABASE_URL may write and cannot create a restricted one, each statement of that prompt runs in a read-only transaction.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { connect, makeReader } from '@kasgres/database';
import type { PoolClient } from 'pg';
import { print, textTable } from '../command-line.ts';

/** As for analysts, `blocks` is the view kaspa.blocks. The table is public.blocks. */
const SEARCH_PATH = 'kaspa,public';
const SETTINGS = `-c default_transaction_read_only=on -c search_path=${SEARCH_PATH}`;

/** Runs one statement or a session. Returns the exit code. */
export async function runSql(databaseUrl: string, sql: string | undefined): Promise<number> {
  const reader = await makeReader(databaseUrl);
  if (reader.mayMakeLargeObjects) {
    const database = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
    process.stderr.write(
      `This session can create large objects, since every user of this database may. A superuser can prevent that: psql -d ${database} -c "select admit_analysts()"\n`,
    );
  }
  try {
    if (!reader.isRestricted) return await runPrompt(reader.url, sql, queryReadOnly);
    return (await runPsql(reader.url, sql)) ?? (await runPrompt(reader.url, sql, queryDirectly));
  } finally {
    await reader.close();
  }
}

/** Returns the exit code of psql; undefined if it is not installed. */
async function runPsql(databaseUrl: string, sql: string | undefined): Promise<number | undefined> {
  // Every user of the machine can read command lines, so the password is passed in the environment.
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = '';
  // Commands run inside psql must not see the credentials of another user.
  const { DATABASE_URL: _, PGPASSWORD: __, ...inherited } = process.env;
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

function ignore(): void {}

async function runPrompt(databaseUrl: string, sql: string | undefined, query: RunQuery): Promise<number> {
  const database = connect({ url: databaseUrl, max: 1, applicationName: 'kasgres sql' });
  try {
    const client = await database.pool.connect();
    try {
      await client.query(`set default_transaction_read_only = on; set search_path = ${SEARCH_PATH}`);
      const run = (text: string): Promise<string> => formatResults(client, query, text);
      if (sql === undefined) return await prompt(run);
      print(await run(sql));
      return 0;
    } finally {
      client.release();
    }
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n`);
    return 1;
  } finally {
    await database.close();
  }
}

/** Reads statements that end with a semicolon, until \q or the end of the input. */
async function prompt(run: (text: string) => Promise<string>): Promise<number> {
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
  return 0;
}

interface Result {
  command: string;
  fields: { name: string }[];
  rows: unknown[][];
}

/** The types of pg do not have `queryMode`. */
interface Query {
  text: string;
  rowMode: 'array';
  queryMode?: 'extended';
}

type RunQuery = (client: PoolClient, text: string) => Promise<Result | Result[]>;

async function queryDirectly(client: PoolClient, text: string): Promise<Result | Result[]> {
  const config: Query = { text, rowMode: 'array' };
  return await client.query<unknown[]>(config);
}

/** The extended protocol accepts only one statement, and a transaction cannot become writable after its first query. */
async function queryReadOnly(client: PoolClient, text: string): Promise<Result> {
  await client.query('begin transaction read only; select');
  const config: Query = { text, rowMode: 'array', queryMode: 'extended' };
  try {
    return await client.query<unknown[]>(config);
  } finally {
    // Commits, so that `set` has an effect. It is harmless in a failed or finished transaction.
    await client.query('commit');
  }
}

/** Returns a table for each statement. */
async function formatResults(client: PoolClient, query: RunQuery, text: string): Promise<string> {
  const results = [await query(client, text)].flat();
  return results.map((result) => resultText(result)).join('\n\n');
}

function resultText({ command, fields, rows }: Result): string {
  if (fields.length === 0) return command;
  const columns = fields.map(({ name }) => name);
  return `${textTable(columns, rows)}\n(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`;
}

function errorText(error: unknown): string {
  return `ERROR: ${error instanceof Error ? error.message : String(error)}`;
}
