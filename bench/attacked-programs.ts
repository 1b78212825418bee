/**
 * Everything that bench/attacks.ts attacks: nodes, Postgres, and each program of Kasgres as a
 * process.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Connection, createAnalyst, migrate } from '@kasgres/database';
import { startTemporaryPostgres } from '@kasgres/database/embedded';
import { sleep } from '@kasgres/runtime';
import { createSelfSigned } from '../test/api/self-signed.ts';
import {
  freePort,
  killAtExit,
  type Program,
  type ProgramEnv,
  startProgram,
  stopProcess,
} from '../test/support/programs.ts';
import type { Listings, MempoolCommand } from './mempool-node.ts';
import type { MempoolKind } from './encoded-mempool.ts';

export const ANONYMOUS_RATE_RU = 20;
export const STREAM_CONNECTIONS = 2_000;
const BLOCKS = 3_000;
const ANALYST = 'hostile_analyst';
/** Five of them at once are what attackers/analysts.ts needs. */
const ANALYST_LIMITS = { timeoutSeconds: 60, connections: 5 };

export interface Attacked {
  url: string;
  metricsUrl: string;
  tlsUrl: string;
  /** The address of the node that the indexer follows. */
  nodeUrl: string;
  database: Connection;
  databaseUrl: string;
  analystUrl: string;
  nameServerPort: number;
  programs: Readonly<Record<string, Program>>;
  mempool: MempoolNode;
  /** The first block of the index. */
  firstBlock: string;
}

/** Starts everything, waits until the index is complete, and stops everything after the work. */
export async function withAttacked(payments: number, work: (attacked: Attacked) => Promise<void>): Promise<void> {
  const ends: (() => Promise<unknown>)[] = [];
  const ending = <T>(started: T, end: () => Promise<unknown>): T => {
    ends.unshift(end);
    return started;
  };
  try {
    const temporary = await mkdtemp(join(tmpdir(), 'kasgres-attacks-'));
    ends.unshift(() => rm(temporary, { recursive: true }));
    const postgres = await startTemporaryPostgres();
    ends.unshift(() => postgres.stop());
    await migrate(postgres.url);
    const database = connect({ url: postgres.url, applicationName: 'kasgres bench', max: 2 });
    ends.unshift(database.close);
    const password = await createAnalyst(database.pool, { name: ANALYST, ...ANALYST_LIMITS }, () => undefined);
    const analystUrl = Object.assign(new URL(postgres.url), { username: ANALYST, password }).toString();

    const mempool = await MempoolNode.start();
    ends.unshift(() => mempool.stop());
    const ports = { node: await freePort(), api: await freePort(), metrics: await freePort(), tls: await freePort() };
    const nameServerPort = await freePort();
    const nodeUrl = `grpc://127.0.0.1:${ports.node}`;
    const env = { nodeUrl, databaseUrl: postgres.url };
    const programs: Record<string, Program> = {};
    const start = (
      name: string,
      path: string,
      variables: Record<string, string>,
      programEnv: ProgramEnv = env,
    ): void => {
      const program = startProgram(path, programEnv, { LOG_LEVEL: 'error', ...variables });
      programs[name] = ending(program, () => program.stop());
    };
    start('node', '../../packages/devnet/src/main.ts', {
      PORT: String(ports.node),
      DEVNET_PAST_BLOCKS: String(BLOCKS),
      DEVNET_PAST_TRANSACTIONS: String(payments),
    });
    start('indexer', '../../packages/indexer/src/main.ts', {});
    const forApis = { nodeUrl: mempool.url, databaseUrl: postgres.url };
    const webhooks = { WEBHOOK_ALLOW: '127.0.0.0/8', WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64') };
    const api = {
      ...webhooks,
      PORT: String(ports.api),
      METRICS_PORT: String(ports.metrics),
      ANONYMOUS_RATE_RU: String(ANONYMOUS_RATE_RU),
      STREAM_CONNECTIONS: String(STREAM_CONNECTIONS),
      TRUST_PROXY: 'loopback',
    };
    start('API', '../../packages/api/src/main.ts', api, forApis);
    const [certificate, key] = await writeCertificate(temporary);
    const tls = { PORT: String(ports.tls), TLS_CERT_FILE: certificate, TLS_KEY_FILE: key };
    start('API with TLS', '../../packages/api/src/main.ts', tls, forApis);
    const preloaded = new URL('attacked-names.ts', import.meta.url).href;
    start('webhooks', '../../packages/webhooks/src/main.ts', {
      ...webhooks,
      NODE_OPTIONS: `--import ${preloaded}`,
      NAME_SERVER_PORT: String(nameServerPort),
    });
    const url = `http://127.0.0.1:${ports.api}`;
    await work({
      url,
      metricsUrl: `http://127.0.0.1:${ports.metrics}`,
      tlsUrl: `http://127.0.0.1:${ports.tls}`,
      nodeUrl,
      database,
      databaseUrl: postgres.url,
      analystUrl,
      nameServerPort,
      programs,
      mempool,
      firstBlock: await findFirstBlock(url, programs),
    });
  } finally {
    for (const end of ends) await end();
  }
}

async function writeCertificate(directory: string): Promise<[string, string]> {
  const { cert, key } = createSelfSigned();
  const [certificateFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  await writeFile(certificateFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  return [certificateFile, keyFile];
}

/** Waits until the index is complete. @throws Error if a program has exited */
async function findFirstBlock(url: string, programs: Readonly<Record<string, Program>>): Promise<string> {
  for (;;) {
    await sleep(500);
    for (const [name, program] of Object.entries(programs)) {
      if (!program.isRunning()) throw new Error(`the ${name} exited:\n${program.output()}`);
    }
    const response = await fetch(`${url}/v1/status`).catch(() => undefined);
    if (!response?.ok) continue;
    const { synced, firstBlock } = (await response.json()) as {
      synced: boolean;
      firstBlock: { hash: string } | string;
    };
    if (synced) return typeof firstBlock === 'string' ? firstBlock : firstBlock.hash;
  }
}

/** The process of mempool-node.ts. */
export class MempoolNode {
  readonly url: string;
  readonly #child: ReturnType<typeof fork>;

  private constructor(child: ReturnType<typeof fork>, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(): Promise<MempoolNode> {
    const child = fork(new URL('mempool-node.ts', import.meta.url));
    killAtExit(child);
    const [url] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
    if (typeof url !== 'string') throw new Error('mempool-node.ts exited');
    return new MempoolNode(child, url);
  }

  fill(mempool: MempoolKind): void {
    this.#send({ mempool });
  }

  async countListings(): Promise<Listings> {
    const message = once(this.#child, 'message');
    this.#send({ count: true });
    return ((await message) as [Listings])[0];
  }

  async stop(): Promise<void> {
    await stopProcess(this.#child, 'SIGTERM');
  }

  #send(command: MempoolCommand): void {
    this.#child.send(command);
  }
}
