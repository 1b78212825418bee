/**
 * The message of `start` once the API responds: its address, lines to paste into a shell, and how
 * to open SQL.
 */
import { resolve } from 'node:path';
import type { ApiStatus } from '../api-status.ts';
import type { CliEnv } from '../env.ts';
import type { Demo } from './demo.ts';

interface GreetingFacts {
  apiUrl: string;
  status: ApiStatus;
  /** The command that runs kasgres in a shell, such as `npx kasgres`. */
  command: string;
  logs: string;
  apiKey: string | undefined;
  demo: Demo | undefined;
  /** Whether the API serves the web explorer. */
  hasExplorer: boolean;
}

export function greetingLines({ apiUrl, status, command, logs, apiKey, demo, hasExplorer }: GreetingFacts): string[] {
  const chain = demo === undefined ? `network ${status.network}` : 'a simulated chain';
  const makeKey = ['Make an API key, and keep it in a variable:', `KEY=$(${command} keys create me)`];
  return [
    '',
    ...(hasExplorer ? [`Explorer: ${apiUrl}/`] : []),
    `Kasgres is ready at ${apiUrl} (${chain}, ${Number(status.sinkBlueScore).toLocaleString('en')} blocks).`,
    ...(apiKey === undefined ? makeKey : [`API key: ${apiKey}`]),
    '',
    'Try it:',
    ...curlLines(apiUrl, apiKey ?? '$KEY', status, demo),
    `Or try every request in a browser, with the key: ${apiUrl}/docs`,
    '',
    'Open SQL on the data (read-only):',
    `${command} sql`,
    '',
    `Logs are in ${logs}. Ctrl-C stops everything; the next start continues from here.`,
  ];
}

/** Returns three requests that work now, even during a catch-up. */
function curlLines(apiUrl: string, key: string, status: ApiStatus, demo: Demo | undefined): string[] {
  // In double quotes the shell expands $KEY.
  const get = (path: string): string => `curl -s -H "x-api-key: ${key}" ${apiUrl}${path}`;
  const post = (path: string, body: unknown): string =>
    `curl -s -H "x-api-key: ${key}" -H "content-type: application/json" -d '${JSON.stringify(body)}' ${apiUrl}${path}`;

  const blocks = post('/v1/rpc/getBlocks', { lowHash: status.sink, includeBlocks: true, includeTransactions: false });
  const address = demo?.tags[0]?.address;
  if (address === undefined) {
    const chain = { startHash: status.sink, includeAcceptedTransactionIds: true };
    return [get('/v1/rpc/getCurrentNetwork'), blocks, post('/v1/rpc/getVirtualChainFromBlock', chain)];
  }
  return [get(`/v1/rpc/getBalanceByAddress/${address}`), get(`/v1/addresses/${address}/tag`), blocks];
}

/** Returns the command that runs kasgres in the current folder, on the same data. */
export function commandInShell(env: CliEnv): string {
  const isByNpm = process.env['npm_lifecycle_event'] !== undefined;
  const command = isByNpm ? 'npx kasgres' : quoted(process.argv[1] ?? 'kasgres');
  return process.env['DATA_DIR'] ? `DATA_DIR=${quoted(resolve(env.DATA_DIR))} ${command}` : command;
}

function quoted(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
