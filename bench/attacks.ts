/**
 * Legitimate load and every known abuse of the API at the same time, on one machine:
 *
 *   node bench/attacks.ts [minutes, default 10]
 *
 * Starts a simulated network that grows, an embedded Postgres, the indexer and the API as processes, measures the legitimate clients
 * while nothing else happens, then lets attackers.ts loose. Exits with 1 unless every program survives without a restart, the memory of
 * the API stays flat, the legitimate requests all succeed with a p99 of at most max(500 ms, 5 × quiet), and `kasgres verify` finds
 * nothing afterwards.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createKey, migrate, startTemporaryPostgres } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { createSelfSigned } from '../test/api/self-signed.ts';
import { freePort, startProgram } from '../test/support/programs.ts';
import type { AttackOptions } from './attackers.ts';

const QUIET_SECONDS = 60;
const RSS_EVERY_MS = 5_000;
/** Requests a second of all legitimate clients together. */
const RATE = 10;
const P99_BOUND_MS = 500;
const P99_FACTOR = 5;
/** The greatest ratio of the memory in the last third of the attack to that in the second. */
const RSS_GROWTH = 1.15;

const minutes = Number(process.argv[2] ?? 10);
const problems: string[] = [];
const programs: Record<string, ReturnType<typeof startProgram>> = {};
const temporary = await mkdtemp(join(tmpdir(), 'kasgres-attacks-'));
const postgres = await startTemporaryPostgres();
const database = connect({ url: postgres.url, applicationName: 'kasgres bench', max: 2 });
try {
  await migrate(postgres.url);
  await run();
} finally {
  for (const program of Object.values(programs)) await program.stop();
  await database.close();
  await postgres.stop();
  await rm(temporary, { recursive: true });
}
for (const problem of problems) console.error(`FAILED: ${problem}`);
console.log(problems.length === 0 ? 'passed' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function run(): Promise<void> {
  const nodePort = await freePort();
  const env = { nodeUrl: `grpc://127.0.0.1:${nodePort}`, databaseUrl: postgres.url };
  const { cert, key: tlsKey } = createSelfSigned();
  const [certFile, keyFile] = [join(temporary, 'cert.pem'), join(temporary, 'key.pem')];
  await writeFile(certFile, cert);
  await writeFile(keyFile, tlsKey, { mode: 0o600 });
  const ports = { api: await freePort(), metrics: await freePort(), tls: await freePort() };
  programs['node'] = startProgram('../../packages/devnet/src/main.ts', env, {
    PORT: String(nodePort),
    DEVNET_PAST_BLOCKS: '3000',
    DEVNET_PAST_TRANSACTIONS: '30000',
  });
  programs['indexer'] = startProgram('../../packages/indexer/src/main.ts', env, {});
  programs['API'] = startProgram('../../packages/api/src/main.ts', env, {
    PORT: String(ports.api),
    METRICS_PORT: String(ports.metrics),
    LOG_LEVEL: 'error',
  });
  programs['API with TLS'] = startProgram('../../packages/api/src/main.ts', env, {
    PORT: String(ports.tls),
    TLS_CERT_FILE: certFile,
    TLS_KEY_FILE: keyFile,
    LOG_LEVEL: 'error',
  });
  const url = `http://127.0.0.1:${ports.api}`;
  const { firstBlock } = await untilSynced(url);
  const { rows: richest } = await database.pool.query<{ address: string }>(
    `select s.address from balances b join scripts s on s.id = b.script_id
      where s.address is not null order by b.transaction_count desc limit 1000`,
  );
  const addresses = richest.map(({ address }) => address);
  const legitimate = await createKey(database.kysely, { name: 'legitimate', rateRu: 1_000 });
  const keyOf = async (name: string): Promise<string> => (await createKey(database.kysely, { name })).key;
  const keys = { worst: await keyOf('worst'), hostile: await keyOf('hostile'), unread: await keyOf('unread') };

  const quiet = await sendLegitimate(url, legitimate.key, addresses, QUIET_SECONDS);
  console.log(`quiet: ${describe(quiet)}`);
  const options: AttackOptions = {
    url,
    metricsUrl: `http://127.0.0.1:${ports.metrics}`,
    tlsUrl: `http://127.0.0.1:${ports.tls}`,
    keys,
    addresses,
    firstBlock,
    seconds: minutes * 60,
  };
  const attackers = spawn(process.execPath, [join(import.meta.dirname, 'attackers.ts'), JSON.stringify(options)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const attackersEnded = once(attackers, 'exit');
  const watching = watchMemory(programs['API'].processId, minutes * 60);
  const attacked = await sendLegitimate(url, legitimate.key, addresses, minutes * 60);
  const rss = await watching;
  await attackersEnded;
  console.log(`attacked: ${describe(attacked)}`);
  console.log(`RSS of the API, MB, every 30 s: ${rss.filter((_, index) => index % 6 === 0).join(' ')}`);

  for (const [name, program] of Object.entries(programs)) {
    if (!program.isRunning()) problems.push(`the ${name} ended:\n${program.output()}`);
  }
  if (attacked.failures.length > 0) problems.push(`${attacked.failures.length} legitimate requests failed`);
  const bound = Math.max(P99_BOUND_MS, P99_FACTOR * percentile(quiet.times, 0.99));
  if (percentile(attacked.times, 0.99) > bound) problems.push(`p99 is above ${bound.toFixed(0)} ms`);
  const third = Math.floor(rss.length / 3);
  const [middle, last] = [Math.max(...rss.slice(third, 2 * third)), Math.max(...rss.slice(2 * third))];
  if (last > middle * RSS_GROWTH) problems.push(`RSS grew from ${middle} to ${last} MB`);

  const cli = join(import.meta.dirname, '../packages/cli/bin/kasgres.js');
  const verify = spawn(process.execPath, [cli, 'verify'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: postgres.url },
    stdio: 'inherit',
  });
  const [code] = (await once(verify, 'exit')) as [number | null];
  if (code !== 0) problems.push(`kasgres verify ended with ${code}`);
}

async function untilSynced(url: string): Promise<{ firstBlock: string }> {
  for (;;) {
    await sleep(500);
    for (const [name, program] of Object.entries(programs)) {
      if (!program.isRunning()) throw new Error(`the ${name} ended:\n${program.output()}`);
    }
    const response = await fetch(`${url}/v1/status`).catch(() => undefined);
    if (!response?.ok) continue;
    const status = (await response.json()) as { synced: boolean; firstBlock: { hash: string } | string };
    if (!status.synced) continue;
    const { firstBlock } = status;
    return { firstBlock: typeof firstBlock === 'string' ? firstBlock : firstBlock.hash };
  }
}

interface Measured {
  times: number[];
  failures: string[];
}

/** Sends at a fixed rate that does not depend on the latency. */
async function sendLegitimate(
  url: string,
  key: string,
  addresses: readonly string[],
  seconds: number,
): Promise<Measured> {
  const paths = (index: number): string => {
    const address = addresses[(index * 7) % addresses.length] ?? '';
    const all = [
      '/v1/rpc/getSink',
      '/v1/rpc/getCoinSupply',
      `/v1/addresses/${address}`,
      `/v1/addresses/${address}/transactions?limit=20`,
      '/v1/blocks?limit=20',
      '/v1/transactions?limit=20',
      `/v1/addresses/${address}/utxos?limit=20`,
    ];
    return all[index % all.length] ?? '';
  };
  const measured: Measured = { times: [], failures: [] };
  const under: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let index = 0; performance.now() - startedAt < seconds * 1000; index += 1) {
    under.push(sendOne(`${url}${paths(index)}`, key, measured));
    await sleep(Math.max(0, startedAt + ((index + 1) * 1000) / RATE - performance.now()));
  }
  await Promise.all(under);
  return measured;
}

async function sendOne(url: string, key: string, { times, failures }: Measured): Promise<void> {
  const sentAt = performance.now();
  try {
    const response = await fetch(url, { headers: { 'x-api-key': key } });
    await response.arrayBuffer();
    if (response.status !== 200) failures.push(`${response.status} ${url}`);
  } catch (error) {
    failures.push(`${String(error)} ${url}`);
  }
  times.push(performance.now() - sentAt);
}

/** Resident memory in MB. */
async function watchMemory(processId: number, seconds: number): Promise<number[]> {
  const samples: number[] = [];
  for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt; await sleep(RSS_EVERY_MS)) {
    const status = await readFile(`/proc/${processId}/status`, 'utf8').catch(() => '');
    samples.push(Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024));
  }
  return samples;
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;
}

function describe({ times, failures }: Measured): string {
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(times, share).toFixed(0));
  return `${times.length} requests, ${failures.length} failed, p50 ${p50} ms, p99 ${p99} ms, at most ${most} ms ${failures.slice(0, 3).join('; ')}`;
}
