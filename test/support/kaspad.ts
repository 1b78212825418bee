/**
 * A real node on simnet, with its own data directory and free ports (flags: rusty-kaspa,
 * kaspad/src/args.rs). The program is KASPAD_BIN or kaspad on the PATH; without it, the tests that
 * need it are skipped.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { NodeClient } from '@kasgres/node';
import { findProgram } from './find-program.ts';
import { freePort, killAtExit, stopProcess } from './programs.ts';

export interface KaspadOptions {
  network?: 'simnet' | 'devnet';
  utxoIndex?: boolean;
  /** Changed parameters of the network (rusty-kaspa, docs/override-params.md). */
  overrides?: Record<string, unknown>;
}

const START_DEADLINE_MS = 60_000;
const DATA = 'data';
const MAX_REFUSALS = 20;
/** The node prints the whole block. */
const MAX_REFUSAL_CHARACTERS = 400;

/** Returns undefined if there is none. Throws Error if KASPAD_BIN is not executable. */
export const findKaspad = (): string | undefined => findProgram('KASPAD_BIN', 'kaspad');

export class Kaspad {
  readonly url: string;
  /** The address for peers. */
  readonly p2pUrl: string;
  readonly overrides: KaspadOptions['overrides'];
  readonly #program: string;
  readonly #flags: string[];
  readonly #folder: string;
  /** Log lines about the last refused blocks. The response to the miner has no reason. */
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
    if (program === undefined) throw new Error('there is no kaspad: set KASPAD_BIN, or add it to the PATH');
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

  /** Starts the process on its data, and waits until it responds. */
  async run(): Promise<void> {
    await mkdir(join(this.#folder, DATA), { recursive: true });
    const child = spawn(this.#program, this.#flags, { stdio: ['ignore', 'pipe', 'ignore'] });
    killAtExit(child);
    this.#collectRefusals(child.stdout);
    this.#process = child;
    await this.#request((client) => client.call('getInfo', {}));
  }

  /** Connects to a peer for as long as both run. */
  async join(p2pUrl: string): Promise<void> {
    const { host } = new URL(p2pUrl);
    await this.#request((client) => client.call('addPeer', { address: host, isPermanent: true }));
  }

  async #request<T>(request: (client: NodeClient) => Promise<T>): Promise<T> {
    const client = new NodeClient({ url: this.url });
    try {
      await client.waitUntilConnected({ signal: AbortSignal.timeout(START_DEADLINE_MS) });
      return await request(client);
    } finally {
      await client.close();
    }
  }

  #collectRefusals(output: Readable): void {
    createInterface({ input: output }).on('line', (line) => {
      if (!line.includes('triggered an error')) return;
      this.refusals.push(line.slice(0, MAX_REFUSAL_CHARACTERS));
      this.refusals.splice(0, this.refusals.length - MAX_REFUSALS);
    });
  }

  /** Stops the process and keeps its data. The node forgets its peers. */
  async halt(signal: 'SIGINT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    if (this.#process !== undefined) await stopProcess(this.#process, signal);
    this.#process = undefined;
  }

  /** Stops the process and deletes its data: the next run begins with genesis. */
  async wipe(): Promise<void> {
    await this.halt();
    await rm(join(this.#folder, DATA), { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this.halt();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Says before a run of the node layer whether it can test anything (`globalSetup` of vitest). */
export function setup(): void {
  const program = findKaspad();
  const nodeUrl = process.env['NODE_URL'];
  const missing = 'no kaspad on the PATH or in KASPAD_BIN (cargo install kaspad --version 2.1.0 --locked)';
  const local = program === undefined ? `Skipped: ${missing}.` : `Real node: ${program}`;
  process.stdout.write(`${local}${nodeUrl === undefined ? '' : `; compared as it is: ${nodeUrl}`}\n`);
}
