/** Hashes pieces of the UTXO set on worker threads, beside the load: hashing a coin takes several times as long as loading it. */
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { HashJob } from './utxo-set-hash.worker.ts';

export class UtxoSetHasher {
  readonly #pool: Piscina<HashJob, bigint>;

  /** @param threads default: one for each core but ours */
  constructor(threads = Math.max(1, availableParallelism() - 1)) {
    const filename = new URL('./utxo-set-hash.worker.ts', import.meta.url).href;
    this.#pool = new Piscina({ filename, minThreads: 1, maxThreads: threads });
  }

  /** The product of the coins of a piece but the first `skip`. */
  hash(bytes: Uint8Array, skip: number): Promise<bigint> {
    // A view would take the whole buffer that it is a view of with it.
    const own = Uint8Array.from(bytes);
    return this.#pool.run({ bytes: own, skip }, { transferList: [own.buffer] });
  }

  /** What waits is dropped, and what is under way finished: no thread ends in the middle of its work. */
  close(): Promise<void> {
    return this.#pool.close({ force: true });
  }
}
