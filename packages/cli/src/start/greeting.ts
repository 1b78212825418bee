// What `start` says once the API answers: where it is, lines that can be pasted into a shell, and how to open SQL.

import { resolve } from 'node:path';
import type { ApiStatus } from '../api-status.ts';
import type { CliEnv } from '../env.ts';
import type { Demo } from './demo.ts';

interface GreetingFacts {
  apiUrl: string;
  status: ApiStatus;
  /** What starts this command in a shell here, such as `npx kasgres`. */
  command: string;
  logs: string;
  /** The demo's key; undefined where no key was made. */
  apiKey: string | undefined;
  /** The simulated chain; undefined on a real one. */
  demo: Demo | undefined;
}

export function greetingLines({ apiUrl, status, command, logs, apiKey, demo }: GreetingFacts): string[] {
  const chain = demo === undefined ? `network ${status.network}` : 'a simulated chain';
  const makeKey = ['Make an API key, and keep it in a variable:', `KEY=$(${command} keys create me)`];
  return [
    '',
    `Kasgres answers at ${apiUrl} (${chain}, ${Number(status.sinkBlueScore).toLocaleString('en')} blocks).`,
    ...(apiKey === undefined ? makeKey : [`API key: ${apiKey}`]),
    '',
    'Ask it:',
    ...curlLines(apiUrl, apiKey ?? '$KEY', status, demo),
    `Or try every call in a browser, with the key: ${apiUrl}/docs`,
    '',
    'Open SQL on the data (read-only):',
    `${command} sql`,
    '',
    `Logs are in ${logs}. Ctrl-C ends everything; the next start goes on from here.`,
  ];
}

/** Three requests that have an answer now, also while a real chain is still being caught up with. */
function curlLines(apiUrl: string, key: string, status: ApiStatus, demo: Demo | undefined): string[] {
  // Double quotes around the key, so that the shell fills in $KEY.
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

/** How to start this command from the folder it was started in, on the same data. */
export function commandInShell(env: CliEnv): string {
  const isByNpm = process.env['npm_lifecycle_event'] !== undefined;
  const command = isByNpm ? 'npx kasgres' : quoted(process.argv[1] ?? 'kasgres');
  return process.env['DATA_DIR'] ? `DATA_DIR=${quoted(resolve(env.DATA_DIR))} ${command}` : command;
}

function quoted(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
