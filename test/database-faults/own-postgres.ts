/** A separate Postgres that a test may stop, kill and start again, always at the same address. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { migrate } from '@kasgres/database';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@kasgres/database/embedded';
import { freePort } from '../support/programs.ts';

export class OwnPostgres {
  readonly url: string;
  readonly #dataDir: string;
  #server: EmbeddedPostgres;

  /** Starts it with the schema, in a new temporary directory. */
  static async start(): Promise<OwnPostgres> {
    const dataDir = await mkdtemp(join(tmpdir(), 'kasgres-faults-'));
    const server = await startEmbeddedPostgres({ dataDir, port: await freePort() });
    await migrate(server.url);
    return new OwnPostgres(server, dataDir);
  }

  private constructor(server: EmbeddedPostgres, dataDir: string) {
    this.#server = server;
    this.#dataDir = dataDir;
    this.url = server.url;
  }

  /** Belongs to the account that Postgres runs as. */
  get dataDirectory(): string {
    return join(this.#server.directory, 'data');
  }

  /** `pg_ctl stop -m fast`, or `-m immediate`. */
  async stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.#server.stop({ immediate: how === 'immediate' });
  }

  /** Sends SIGKILL to the postmaster; its backends exit by themselves. */
  async kill(): Promise<void> {
    const lockFile = await readFile(join(this.dataDirectory, 'postmaster.pid'), 'utf8');
    process.kill(Number(lockFile.split('\n')[0]), 'SIGKILL');
    await this.#server.exited;
  }

  /** Moves the WAL of the stopped server. */
  async moveWal(directory: string): Promise<void> {
    const wal = join(this.dataDirectory, 'pg_wal');
    await promisify(execFile)('cp', ['-a', `${wal}/.`, directory]);
    await rm(wal, { recursive: true });
    await symlink(directory, wal);
  }

  /** Waits for the exit of the server. */
  async untilStopped(): Promise<void> {
    await this.#server.exited;
  }

  async startAgain(): Promise<void> {
    const { port } = this.#server;
    this.#server = await startEmbeddedPostgres({ dataDir: this.#dataDir, port });
    if (this.#server.port !== port) throw new Error(`another program has taken port ${port}`);
  }

  /** Stops it and deletes its data. */
  async remove(): Promise<void> {
    await this.stop('immediate');
    await rm(this.#server.directory, { recursive: true, force: true });
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}
