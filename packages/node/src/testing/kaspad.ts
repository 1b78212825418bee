/** A real node for tests: kaspad on simnet, with its own directory and ports. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Returns the path of `KASPAD_BIN`, or of `kaspad` on the PATH. */
export function findKaspad(): string | undefined {
  const given = process.env['KASPAD_BIN'];
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, 'kaspad'));
  return [...(given === undefined ? [] : [given]), ...candidates].find(isExecutable);
}

export class Kaspad {
  readonly port: number;
  readonly #binary: string;
  readonly #args: readonly string[];
  readonly #directory: string;
  #process: ChildProcess | undefined;

  private constructor(binary: string, port: number, args: readonly string[], directory: string) {
    this.#binary = binary;
    this.port = port;
    this.#args = args;
    this.#directory = directory;
  }

  /** Starts a new chain, without waiting until the node responds. */
  static async create(binary: string, options: { utxoindex?: boolean } = {}): Promise<Kaspad> {
    const directory = await mkdtemp(join(tmpdir(), 'kasgres-kaspad-'));
    const port = await findFreePort();
    const args = [
      '--simnet',
      '--enable-unsynced-mining',
      ...(options.utxoindex === false ? [] : ['--utxoindex']),
      '--nodnsseed',
      '--disable-upnp',
      '--nologfiles',
      '--yes',
      '--ram-scale=0.3',
      `--appdir=${directory}`,
      `--rpclisten=127.0.0.1:${port}`,
      `--listen=127.0.0.1:${await findFreePort()}`,
    ];
    const node = new Kaspad(binary, port, args, directory);
    node.start();
    return node;
  }

  get url(): string {
    return `grpc://127.0.0.1:${this.port}`;
  }

  /** Restarts after `stop`, on the same chain and ports. */
  start(): void {
    this.#process = spawn(this.#binary, this.#args, { stdio: 'ignore' });
  }

  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    running.kill('SIGTERM');
    await once(running, 'exit');
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
