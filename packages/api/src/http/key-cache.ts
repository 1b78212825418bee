/**
 * Keys as the requests ask for them. What the database said of a key holds for two seconds, so that a busy key does not cost a query a
 * request, and a revoked one is refused soon.
 */
import { hashKey, type KeyInForce } from '@kasgres/database';

interface Entry {
  key: Promise<KeyInForce | undefined>;
  validUntil: number;
}

const LIFE_MS = 2000;
/** Wrong keys are remembered too: a flood of them must not fill the memory. */
const MAX_ENTRIES = 10_000;

export class KeyCache {
  readonly #findKey: (keyHash: Buffer) => Promise<KeyInForce | undefined>;
  /** By the hash of the key. */
  readonly #entries = new Map<string, Entry>();

  constructor(findKey: (keyHash: Buffer) => Promise<KeyInForce | undefined>) {
    this.#findKey = findKey;
  }

  /** The key when it is in force. */
  find(key: string): Promise<KeyInForce | undefined> {
    const keyHash = hashKey(key);
    const name = keyHash.toString('latin1');
    const known = this.#entries.get(name);
    return known !== undefined && known.validUntil > performance.now() ? known.key : this.#look(name, keyHash);
  }

  /** Looks every key up anew at its next request. */
  clear(): void {
    this.#entries.clear();
  }

  #look(name: string, keyHash: Buffer): Promise<KeyInForce | undefined> {
    if (this.#entries.size >= MAX_ENTRIES) this.clear();
    const entry = { key: this.#findKey(keyHash), validUntil: performance.now() + LIFE_MS };
    this.#entries.set(name, entry);
    // A failed look-up says nothing of the key: the next request asks again.
    entry.key.catch(() => {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    });
    return entry.key;
  }
}
