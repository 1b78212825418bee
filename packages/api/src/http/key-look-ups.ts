/** Looks up keys with one query at a time: look-ups that arrive meanwhile share the next one. */
import type { KeyInForce } from '@kasgres/database';
import { unavailable } from './errors.ts';

export interface Found {
  key: KeyInForce | undefined;
  /** When the query began, by performance.now(). */
  readAt: number;
}

interface LookUp {
  keyHash: Uint8Array;
  found: PromiseWithResolvers<Found>;
}

const MAX_PER_QUERY = 500;
const MAX_WAITING = 10_000;

export class KeyLookUps {
  readonly #read: (keyHashes: readonly Uint8Array[]) => Promise<KeyInForce[]>;
  /** By the name of the hash, oldest first. */
  readonly #waiting = new Map<string, LookUp>();
  #reading: ReadonlyMap<string, LookUp> = new Map();
  #isReading = false;

  constructor(read: (keyHashes: readonly Uint8Array[]) => Promise<KeyInForce[]>) {
    this.#read = read;
  }

  /** @throws HttpError 503 if too many wait already, or the error of the query */
  find(name: string, keyHash: Uint8Array): Promise<Found> {
    const running = this.#reading.get(name) ?? this.#waiting.get(name);
    if (running !== undefined) return running.found.promise;
    if (this.#waiting.size >= MAX_WAITING) return Promise.reject(unavailable('Too many keys are being looked up', 1));
    const found = Promise.withResolvers<Found>();
    this.#waiting.set(name, { keyHash, found });
    void this.#readAll();
    return found.promise;
  }

  async #readAll(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, MAX_PER_QUERY);
      for (const [name] of batch) this.#waiting.delete(name);
      this.#reading = new Map(batch);
      const readAt = performance.now();
      try {
        const keys = await this.#read(batch.map(([, { keyHash }]) => keyHash));
        const byName = new Map(keys.map((key) => [Buffer.from(key.keyHash).toString('latin1'), key]));
        for (const [name, { found }] of batch) found.resolve({ key: byName.get(name), readAt });
      } catch (error) {
        for (const [, { found }] of batch) found.reject(error);
      }
    }
    this.#reading = new Map();
    this.#isReading = false;
  }
}
