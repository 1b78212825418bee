/** Hashes chunks of the UTXO set on worker threads, beside the load: hashing a UTXO takes several times as long as loading it. */
import { availableParallelism } from 'node:os';
import { WorkerPool } from '@kasgres/runtime/worker-pool';
import type { HashJob } from './utxo-set-hash.worker.ts';

export class UtxoSetHasher {
  readonly #pool: WorkerPool<HashJob, bigint>;

  /** @param threads by default one for each core but that of the main thread */
  constructor(threads = Math.max(1, availableParallelism() - 1)) {
    this.#pool = new WorkerPool(new URL('./utxo-set-hash.worker.ts', import.meta.url), threads);
  }

  /** Returns the MuHash product of the UTXOs of a chunk without the first `skip`. */
  hash(bytes: Uint8Array, skip: number): Promise<bigint> {
    // Transferring a view would transfer the whole buffer behind it.
    const own = Uint8Array.from(bytes);
    return this.#pool.run({ bytes: own, skip }, [own.buffer]);
  }

  /** Rejects the chunks that no thread has started, and waits for the others. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}
