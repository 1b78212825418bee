// `kasgres sql`: psql on the data where psql is installed, else a small loop of our own. Sessions are read-only unless a
// person sets them otherwise: a guard against accidents, not a wall.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { connect } from '@kasgres/database';
import { print } from '../print.ts';
import { textTable } from '../text-table.ts';

/** The views come first: `blocks` is kaspa.blocks, as it is for analysts, and the tables below them are public.blocks. */
const SEARCH_PATH = 'kaspa,public';
const SETTINGS = `-c default_transaction_read_only=on -c search_path=${SEARCH_PATH}`;

/** Runs one command, or a session. Returns the exit code. */
export async function runSql(databaseUrl: string, sql: string | undefined): Promise<number> {
  return (await runPsql(databaseUrl, sql)) ?? runOwnLoop(databaseUrl, sql);
}

/** psql's exit code; undefined where there is no psql. */
async function runPsql(databaseUrl: string, sql: string | undefined): Promise<number | undefined> {
  // A command line can be read by every user of the machine: the password goes another way.
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = '';
  const env = {
    ...process.env,
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

async function runOwnLoop(databaseUrl: string, sql: string | undefined): Promise<number> {
  const database = connect({ url: databaseUrl, max: 1, applicationName: 'kasgres sql' });
  try {
    const client = await database.pool.connect();
    try {
      await client.query(`set default_transaction_read_only = on; set search_path = ${SEARCH_PATH}`);
      const run = (text: string): Promise<string> => answer((query) => client.query(query), text);
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

type Query = (query: { text: string; rowMode: 'array' }) => Promise<Result | Result[]>;

/** The answer as a table, or several when the text holds several statements. */
async function answer(query: Query, text: string): Promise<string> {
  const results = [await query({ text, rowMode: 'array' })].flat();
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
