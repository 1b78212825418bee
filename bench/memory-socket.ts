/** A connection without the kernel. Emits `responded` with the beginning of the response, in the turn of the event loop after it. */
import { Duplex } from 'node:stream';

export class MemorySocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    done();
    setImmediate(() => this.emit('responded', chunk.toString('latin1', 0, 15)));
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }
}
