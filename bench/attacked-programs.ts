/**
 * Everything that bench/attacks.ts attacks: nodes, Postgres, and each program of Kasgres as a
 * process.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnalyst, migrate } from '@kasgres/database';
import { startTemporaryPostgres } from '@kasgres/database/embedded';
import { sleep } from '@kasgres/runtime';
import { createSelfSigned } from '../test/api/self-signed.ts';
import { freePort, type Program, type ProgramEnv, startProgram } from '../test/support/programs.ts';
import type { Target } from './attackers/attack.ts';
import type { MempoolKind } from './encoded-mempool.ts';
import { HelperProcess } from './helper-process.ts';
import type { Listings, MempoolCommand } from './mempool-node.ts';
import { openDatabase, type OpenDatabase } from './run-database.ts';

const ANONYMOUS_RATE_RU = 20;
const STREAM_CONNECTIONS = 2_000;
const BLOCKS = 3_000;
const ANALYST = 'hostile_analyst';
/** Five of them at once are what attackers/analysts.ts needs. */
const ANALYST_LIMITS = { timeoutSeconds: 60, connections: 5 };

export interface Attacked {
  target: Target;
  /** The address of the node that the indexer follows. */
  nodeUrl: string;
  database: OpenDatabase;
  programs: Readonly<Record<string, Program>>;
  mempool: MempoolNode;
}

/** Starts everything until the end, and waits until the index is complete. */
export async function startAttacked(ends: AsyncDisposableStack, payments: number): Promise<Attacked> {
  const temporary = await mkdtemp(join(tmpdir(), 'kasgres-attacks-'));
  ends.defer(() => rm(temporary, { recursive: true }));
  const { url: databaseUrl } = ends.adopt(await startTemporaryPostgres(), (postgres) => postgres.stop());
  await migrate(databaseUrl);
  const database = openDatabase(ends, databaseUrl, 2);
  const password = await createAnalyst(database.pool, { name: ANALYST, ...ANALYST_LIMITS }, () => undefined);
  const analystUrl = Object.assign(new URL(databaseUrl), { username: ANALYST, password }).toString();

  const mempool = await MempoolNode.start(ends);
  const ports = { node: await freePort(), api: await freePort(), metrics: await freePort(), tls: await freePort() };
  const nameServerPort = await freePort();
  const nodeUrl = `grpc://127.0.0.1:${ports.node}`;
  const programs: Record<string, Program> = {};
  const start = (name: string, path: string, env: ProgramEnv, variables: Readonly<Record<string, string>>): void => {
    const program = startProgram(`../../packages/${path}/src/main.ts`, env, { LOG_LEVEL: 'error', ...variables });
    ends.defer(() => program.stop());
    programs[name] = program;
  };
  const env = { nodeUrl, databaseUrl };
  start('node', 'devnet', env, {
    PORT: String(ports.node),
    DEVNET_PAST_BLOCKS: String(BLOCKS),
    DEVNET_PAST_TRANSACTIONS: String(payments),
  });
  start('indexer', 'indexer', env, {});
  const envOfApis = { nodeUrl: mempool.url, databaseUrl };
  const webhooks = { WEBHOOK_ALLOW: '127.0.0.0/8', WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64') };
  start('API', 'api', envOfApis, {
    ...webhooks,
    PORT: String(ports.api),
    METRICS_PORT: String(ports.metrics),
    ANONYMOUS_RATE_RU: String(ANONYMOUS_RATE_RU),
    STREAM_CONNECTIONS: String(STREAM_CONNECTIONS),
    TRUST_PROXY: 'loopback',
  });
  start('API with TLS', 'api', envOfApis, { PORT: String(ports.tls), ...(await writeCertificate(temporary)) });
  const preloaded = new URL('attacked-names.ts', import.meta.url).href;
  start('webhooks', 'webhooks', env, {
    ...webhooks,
    NODE_OPTIONS: `--import ${preloaded}`,
    NAME_SERVER_PORT: String(nameServerPort),
  });
  const url = `http://127.0.0.1:${ports.api}`;
  const target = {
    url,
    metricsUrl: `http://127.0.0.1:${ports.metrics}`,
    tlsUrl: `http://127.0.0.1:${ports.tls}`,
    anonymousRateRu: ANONYMOUS_RATE_RU,
    streamConnections: STREAM_CONNECTIONS,
    analystUrl,
    nameServerPort,
    firstBlock: await findFirstBlock(url, programs),
  };
  return { target, nodeUrl, database, programs, mempool };
}

/** Returns the variables that name the files. */
async function writeCertificate(directory: string): Promise<Record<'TLS_CERT_FILE' | 'TLS_KEY_FILE', string>> {
  const { cert, key } = createSelfSigned();
  const files = { TLS_CERT_FILE: join(directory, 'cert.pem'), TLS_KEY_FILE: join(directory, 'key.pem') };
  await writeFile(files.TLS_CERT_FILE, cert);
  await writeFile(files.TLS_KEY_FILE, key, { mode: 0o600 });
  return files;
}

/** Waits until the index is complete. @throws Error if a program has exited */
async function findFirstBlock(url: string, programs: Readonly<Record<string, Program>>): Promise<string> {
  for (;;) {
    await sleep(500);
    requireRunning(programs);
    const response = await fetch(`${url}/v1/status`).catch(() => undefined);
    if (!response?.ok) continue;
    const { synced, firstBlock } = (await response.json()) as {
      synced: boolean;
      firstBlock: { hash: string } | string;
    };
    if (synced) return typeof firstBlock === 'string' ? firstBlock : firstBlock.hash;
  }
}

/** @throws Error if a program has exited */
export function requireRunning(programs: Readonly<Record<string, Program>>): void {
  for (const [name, program] of Object.entries(programs)) {
    if (!program.isRunning()) throw new Error(`the ${name} exited:\n${program.output()}`);
  }
}

/** The process of mempool-node.ts. */
class MempoolNode {
  readonly url: string;
  readonly #helper: HelperProcess;

  private constructor(helper: HelperProcess, url: string) {
    this.#helper = helper;
    this.url = url;
  }

  static async start(ends: AsyncDisposableStack): Promise<MempoolNode> {
    const helper = ends.use(new HelperProcess('mempool-node.ts'));
    return new MempoolNode(helper, await helper.receive<string>());
  }

  fill(mempool: MempoolKind): void {
    this.#helper.send({ mempool } satisfies MempoolCommand);
  }

  async countListings(): Promise<Listings> {
    const listings = this.#helper.receive<Listings>();
    this.#helper.send({ count: true } satisfies MempoolCommand);
    return await listings;
  }
}
