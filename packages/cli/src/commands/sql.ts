/**
 * `kasgres sql`: psql on the data where psql is installed, else a small loop of our own. It only reads: the session belongs to a user that may
 * not write. Where the user of DATABASE_URL may write and cannot make one that may not, each statement is run by itself, in a transaction
 * that is read-only and cannot become anything else.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { connect, makeReader } from '@kasgres/database';
import type { PoolClient } from 'pg';
import { print, textTable } from '../output.ts';

/** The views come first: `blocks` is kaspa.blocks, as it is for analysts, and the tables below them are public.blocks. */
const SEARCH_PATH = 'kaspa,public';
const SETTINGS = `-c default_transaction_read_only=on -c search_path=${SEARCH_PATH}`;

/** Runs one command, or a session. Returns the exit code. */
export async function runSql(databaseUrl: string, sql: string | undefined): Promise<number> {
  const reader = await makeReader(databaseUrl);
  if (reader.mayMakeLargeObjects) {
    const database = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
    process.stderr.write(
      `This session can make large objects, as everybody can in this database. A superuser can prevent it: psql -d ${database} -c "select admit_analysts()"\n`,
    );
  }
  try {
    if (!reader.isRestricted) return await runOwnLoop(reader.url, sql, queryReadOnly);
    return (await runPsql(reader.url, sql)) ?? (await runOwnLoop(reader.url, sql, query));
  } finally {
    await reader.close();
  }
}

/** psql's exit code; undefined where there is no psql. */
async function runPsql(databaseUrl: string, sql: string | undefined): Promise<number | undefined> {
  // A command line can be read by every user of the machine: the password goes another way.
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = '';
  // What is run there is to know of no other user.
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
  // Ctrl-C at psql ends a query, not the session.
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

async function runOwnLoop(databaseUrl: string, sql: string | undefined, ask: Ask): Promise<number> {
  const database = connect({ url: databaseUrl, max: 1, applicationName: 'kasgres sql' });
  try {
    const client = await database.pool.connect();
    try {
      await client.query(`set default_transaction_read_only = on; set search_path = ${SEARCH_PATH}`);
      const run = (text: string): Promise<string> => answer(client, ask, text);
      if (sql === undefined) return await converse(run);
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

/** A statement ends with a semicolon; \q or the end of the input ends the session. */
async function converse(run: (text: string) => Promise<string>): Promise<number> {
  const isTerminal = process.stdin.isTTY;
  const lines = createInterface({ input: process.stdin, ...(isTerminal && { output: process.stdout }) });
  if (isTerminal) print('SQL, read-only. A statement ends with ";", the session with \\q.');
  const prompt = (text: string): void => {
    if (!isTerminal) return;
    lines.setPrompt(text);
    lines.prompt();
  };
  let statement = '';
  prompt('kasgres=> ');
  for await (const line of lines) {
    if (statement === '' && line.trim() === '\\q') break;
    statement += `${line}\n`;
    if (!line.trimEnd().endsWith(';')) {
      prompt('kasgres-> ');
      continue;
    }
    print(await run(statement).catch(errorText));
    statement = '';
    prompt('kasgres=> ');
  }
  lines.close();
  return 0;
}

interface Result {
  command: string;
  fields: { name: string }[];
  rows: unknown[][];
}

/** `queryMode` is missing in the types of pg. */
interface Query {
  text: string;
  rowMode: 'array';
  queryMode?: 'extended';
}

type Ask = (client: PoolClient, text: string) => Promise<Result | Result[]>;

async function query(client: PoolClient, text: string): Promise<Result | Result[]> {
  const config: Query = { text, rowMode: 'array' };
  return await client.query<unknown[]>(config);
}

/** The extended protocol takes one statement at a time, and after its first query a transaction cannot be made one that writes. */
async function queryReadOnly(client: PoolClient, text: string): Promise<Result> {
  await client.query('begin transaction read only; select');
  const config: Query = { text, rowMode: 'array', queryMode: 'extended' };
  try {
    return await client.query<unknown[]>(config);
  } finally {
    // So that settings stay. A transaction that has failed, or that the statement has ended, is no matter.
    await client.query('commit');
  }
}

/** The answer as a table, or several when the text holds several statements. */
async function answer(client: PoolClient, ask: Ask, text: string): Promise<string> {
  const results = [await ask(client, text)].flat();
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
