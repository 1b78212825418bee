/** A small disk to fill, if this process may mount one. */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export class SmallDisk {
  readonly directory: string;
  readonly #bytes: number;

  /** Returns undefined if only root may mount a disk. */
  static async mount(megabytes: number): Promise<SmallDisk | undefined> {
    const directory = await mkdtemp(join(tmpdir(), 'kasgres-disk-'));
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', directory]);
      await chmod(directory, 0o711);
      return new SmallDisk(directory, megabytes * 1024 * 1024);
    } catch {
      await rm(directory, { recursive: true });
      console.log('skipped: only root may mount a small disk to fill');
      return undefined;
    }
  }

  private constructor(directory: string, bytes: number) {
    this.directory = directory;
    this.#bytes = bytes;
  }

  /** Creates a directory with the owner of another. */
  async makeDirectory(name: string, owner: string): Promise<string> {
    const directory = await mkdtemp(join(this.directory, `${name}-`));
    const { uid, gid } = await stat(owner);
    await chown(directory, uid, gid);
    return directory;
  }

  async fill(): Promise<void> {
    // The write fails when the disk is full.
    await writeFile(this.#ballast, Buffer.alloc(this.#bytes)).catch(() => undefined);
  }

  async makeRoom(): Promise<void> {
    await rm(this.#ballast, { force: true });
  }

  async unmount(): Promise<void> {
    await run('umount', [this.directory]);
    await rm(this.directory, { recursive: true });
  }

  get #ballast(): string {
    return join(this.directory, 'ballast');
  }
}
