/**
 * A real node on simnet, with a data directory of its own and free ports, for as long as a test needs it (flags: rusty-kaspa,
 * kaspad/src/args.rs). It is found as KASPAD_BIN or on the PATH; without it the tests that need it are skipped.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { NodeClient } from '@kasgres/node';
import { stopWithTest } from './stop-with-test.ts';

export interface KaspadOptions {
  network?: 'simnet' | 'devnet';
  utxoIndex?: boolean;
  /** Parameters of the network that are to be others (rusty-kaspa, docs/override-params.md). */
  overrides?: Record<string, unknown>;
}

const START_DEADLINE_MS = 60_000;
/** Folder of what the node writes, beside what it is started with. */
const DATA = 'data';
/** How many are kept, and how much of each: the node prints the whole block. */
const REFUSALS_KEPT = 20;
const REFUSAL_LENGTH = 400;

/** Path of the program, or undefined when this machine has none. @throws Error when KASPAD_BIN names what cannot be run */
export function findKaspad(): string | undefined {
  const given = process.env['KASPAD_BIN'];
  if (given !== undefined && given !== '') {
    if (!isExecutable(given)) throw new Error(`KASPAD_BIN names ${given}, which cannot be run`);
    return given;
  }
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'kaspad'));
  return candidates.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export class Kaspad {
  readonly url: string;
  /** Where peers find it. */
  readonly p2pUrl: string;
  readonly overrides: KaspadOptions['overrides'];
  readonly #program: string;
  readonly #flags: string[];
  readonly #folder: string;
  /** What the node said of the last blocks that it refused: to whoever hands one in it only says that it is invalid. */
  readonly refusals: string[] = [];
  #process: ChildProcess | undefined;

  private constructor(
    program: string,
    { url, p2pUrl, overrides }: Pick<Kaspad, 'url' | 'p2pUrl' | 'overrides'>,
    flags: string[],
    folder: string,
  ) {
    this.#program = program;
    this.url = url;
    this.p2pUrl = p2pUrl;
    this.overrides = overrides;
    this.#flags = flags;
    this.#folder = folder;
  }

  static async start({ network = 'simnet', utxoIndex = true, overrides }: KaspadOptions = {}): Promise<Kaspad> {
    const program = findKaspad();
    if (program === undefined) throw new Error('kaspad is neither on the PATH nor named by KASPAD_BIN');
    const folder = await mkdtemp(join(tmpdir(), 'kasgres-kaspad-'));
    const [rpcPort, p2pPort] = [await freePort(), await freePort()];
    const overridesFile = join(folder, 'override-params.json');
    if (overrides !== undefined) await writeFile(overridesFile, JSON.stringify(overrides));
    const flags = [
      `--${network}`,
      '--enable-unsynced-mining',
      ...(utxoIndex ? ['--utxoindex'] : []),
      '--unsaferpc',
      '--nodnsseed',
      '--disable-upnp',
      '--nologfiles',
      '--yes',
      '--ram-scale=0.3',
      `--appdir=${join(folder, DATA)}`,
      `--rpclisten=127.0.0.1:${rpcPort}`,
      `--listen=127.0.0.1:${p2pPort}`,
      ...(overrides === undefined ? [] : [`--override-params-file=${overridesFile}`]),
    ];
    const urls = { url: `grpc://127.0.0.1:${rpcPort}`, p2pUrl: `grpc://127.0.0.1:${p2pPort}` };
    const kaspad = new Kaspad(program, { ...urls, overrides }, flags, folder);
    await kaspad.run();
    return kaspad;
  }

  /** Starts the process (again) on the data that is there, and waits until it answers. */
  async run(): Promise<void> {
    await mkdir(join(this.#folder, DATA), { recursive: true });
    const child = spawn(this.#program, this.#flags, { stdio: ['ignore', 'pipe', 'ignore'] });
    stopWithTest(child);
    this.#listen(child.stdout);
    this.#process = child;
    await this.#ask((client) => client.call('getInfo', {}));
  }

  /** Makes it a peer of the node there, for as long as both run. */
  async join(p2pUrl: string): Promise<void> {
    const { host } = new URL(p2pUrl);
    await this.#ask((client) => client.call('addPeer', { address: host, isPermanent: true }));
  }

  async #ask<T>(request: (client: NodeClient) => Promise<T>): Promise<T> {
    const client = new NodeClient({ url: this.url });
    try {
      await client.waitUntilConnected({ signal: AbortSignal.timeout(START_DEADLINE_MS) });
      return await request(client);
    } finally {
      await client.close();
    }
  }

  #listen(output: Readable): void {
    createInterface({ input: output }).on('line', (line) => {
      if (!line.includes('triggered an error')) return;
      this.refusals.push(line.slice(0, REFUSAL_LENGTH));
      this.refusals.splice(0, this.refusals.length - REFUSALS_KEPT);
    });
  }

  /** Ends the process and keeps its data; with SIGKILL as a failing machine does. Its peers are forgotten. */
  async halt(signal: 'SIGINT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Ends the process and deletes its data: when it runs again it knows genesis. */
  async wipe(): Promise<void> {
    await this.halt();
    await rm(join(this.#folder, DATA), { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this.halt();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
