/**
 * Functions that act as an operator in a checkout: change settings, run commands of the documents,
 * and inspect the containers.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { linesOf } from './documents.ts';
import { type Finished, run, tryToRun } from './run.ts';

export const engine = inject('engine');
const { folder } = engine;
/** Commands of documents that were run, for the test that none is left out. */
const RUN_LOG = join(folder, 'commands-run.log');
export const PROGRAMS = ['indexer', 'api', 'webhooks'] as const;
export const LONG_RUNNING = ['postgres', ...PROGRAMS] as const;
const HEALTHY_MS = 120_000;

export interface Status {
  synced: boolean;
  sinkBlueScore: string;
  nodeConnected: boolean;
}

/** Runs a script in the checkout. @throws if it fails, with what the containers logged */
export async function shell(script: string): Promise<string> {
  try {
    return await run(script, { cwd: folder });
  } catch (error) {
    const { output } = await tryShell('docker compose ps --all; docker compose logs --no-color --tail 15');
    throw new Error(`${(error as Error).message}\n${output}`, { cause: error });
  }
}
export const compose = async (parameters: string): Promise<string> => await shell(`docker compose ${parameters}`);
export const tryShell = async (script: string): Promise<Finished> => await tryToRun(script, { cwd: folder });

/** Runs a script of a document as it is. */
export async function follow(script: string): Promise<string> {
  appendFileSync(
    RUN_LOG,
    linesOf(script)
      .map((line) => `${line}\n`)
      .join(''),
  );
  return await shell(script);
}

export const commandsRun = (): string[] => readFileSync(RUN_LOG, 'utf8').trimEnd().split('\n');

/** Changes variables of .env, which compose reads. An undefined value removes one. */
export function set(variables: Readonly<Record<string, string | undefined>>): void {
  const path = join(folder, '.env');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const kept = lines.filter((line) => line !== '' && !((line.split('=')[0] ?? '') in variables));
  const added = Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  writeFileSync(path, [...kept, ...added, ''].join('\n'));
}

export const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
export const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

/** Returns a value of `docker inspect` of the container of a service, which may have ended. */
export async function inspect<Value>(service: string, format: string): Promise<Value> {
  const [id = ''] = (await compose(`ps --all --quiet ${service}`)).split('\n');
  return JSON.parse(await shell(`docker inspect --format '{{json ${format}}}' ${id}`)) as Value;
}

export async function untilHealthy(services: readonly string[] = LONG_RUNNING): Promise<void> {
  for (const service of services) {
    await expect
      .poll(() => inspect<string>(service, '.State.Health.Status'), { timeout: HEALTHY_MS, message: service })
      .toBe('healthy');
  }
}

let apiUrl: string | undefined;

/**
 * Returns the address of the API, whose port is chosen by the engine and changes when the container
 * is replaced.
 */
export async function findApi(): Promise<string> {
  apiUrl = `http://${await compose('port api 3000')}`;
  return apiUrl;
}

export async function request(path: string, key?: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) };
  const options = { ...init, headers, signal: AbortSignal.timeout(10_000) };
  return await fetch(`${apiUrl ?? (await findApi())}${path}`, options);
}

export async function readStatus(): Promise<Status> {
  await findApi();
  const response = await request('/v1/status');
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Status;
}

/** Waits until the API is synced with a node and the index has grown. */
export async function untilFollowing(): Promise<Status> {
  const isSynced = async (above?: string): Promise<boolean> => {
    const status = await readStatus().catch(() => undefined);
    if (status?.synced !== true || (above !== undefined && BigInt(status.sinkBlueScore) <= BigInt(above))) return false;
    last = status;
    return true;
  };
  let last: Status | undefined;
  await expect.poll(async () => await isSynced(), { message: 'synced' }).toBe(true);
  const { sinkBlueScore } = last ?? { sinkBlueScore: '0' };
  await expect.poll(async () => await isSynced(sinkBlueScore), { message: `above ${sinkBlueScore}` }).toBe(true);
  return last as unknown as Status;
}

export async function query(sql: string): Promise<string> {
  return await run('docker compose exec -T postgres psql --username=kasgres --no-psqlrc -v ON_ERROR_STOP=1 -At', {
    cwd: folder,
    input: sql,
  });
}

/** Returns the last line of what a service printed. */
export async function lastLine(service: string): Promise<string> {
  const lines = (await compose(`logs --no-log-prefix --no-color ${service}`)).trimEnd().split('\n');
  return lines.at(-1) ?? '';
}

export async function createKey(name: string): Promise<string> {
  const [key = ''] = /kdp_\w+/.exec(await compose(`run --rm migrate keys create ${name} 2>/dev/null`)) ?? [];
  expect(key).not.toBe('');
  return key;
}
