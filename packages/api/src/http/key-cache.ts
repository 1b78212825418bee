/**
 * Keys as requests look them up. Keys in use are read again every second, all in one query, so that a request neither waits for the
 * database nor costs a query, and a revoked key is refused within seconds. Keys that nobody has used lately, mostly wrong ones, are
 * looked up through a connection of their own: no flood of them delays a key in use.
 */
import { hashKey, type KeyInForce } from '@kasgres/database';
import type { Bucket } from '../limits/limits.ts';
import { LookUps } from './key-look-ups.ts';

/** A key with what its requests are charged to. */
export interface CachedKey extends KeyInForce {
  bucket: Bucket;
}

interface Entry {
  key: CachedKey;
  /** When it was read, by performance.now(). */
  readAt: number;
  usedAt: number;
}

export interface KeyCacheParts {
  /** Reads keys that were good when they were last read. */
  readKnown: (keyHashes: readonly Uint8Array[]) => Promise<KeyInForce[]>;
  /** Reads all others. Should not share connections with `readKnown`. */
  readUnknown: (keyHashes: readonly Uint8Array[]) => Promise<KeyInForce[]>;
  /** Whether what was read of keys' use since a time, by performance.now(), may have what this process wrote meanwhile, or not. */
  isUseUncertain: (since: number) => boolean;
  onError: (error: unknown) => void;
}

const REFRESH_MS = 1000;
/** What was read holds so long, also while the database is away. */
const LIFE_MS = 3000;
const REFRESHED_AFTER_USE_MS = 60_000;
const KNOWN_AFTER_USE_MS = 3_600_000;
/** How long a wrong key is refused from memory. A key that is made after it was tried works that much later. */
const WRONG_LIFE_MS = 2000;
const MAX_WRONG = 10_000;

const KEY_PATTERN = /^kdp_[0-9a-f]{64}$/;

export class KeyCache {
  readonly #known: LookUps;
  readonly #unknown: LookUps;
  readonly #isUseUncertain: KeyCacheParts['isUseUncertain'];
  /** By the hash of the key, which is no secret. */
  readonly #entries = new Map<string, Entry>();
  /** Until when, oldest first. */
  readonly #wrong = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor({ readKnown, readUnknown, isUseUncertain, onError }: KeyCacheParts) {
    this.#known = new LookUps(readKnown);
    this.#unknown = new LookUps(readUnknown);
    this.#isUseUncertain = isUseUncertain;
    this.#timer = setInterval(() => void this.#refresh().catch(onError), REFRESH_MS).unref();
  }

  /** The key if it is in force. */
  find(key: string): CachedKey | undefined | Promise<CachedKey | undefined> {
    // Whatever has another form is no key: it takes no query to know that.
    if (!KEY_PATTERN.test(key)) return undefined;
    const keyHash = hashKey(key);
    const name = nameOf(keyHash);
    const now = performance.now();
    const entry = this.#entries.get(name);
    if (entry !== undefined) {
      entry.usedAt = now;
      return entry.readAt + LIFE_MS > now ? entry.key : this.#look(this.#known, name, keyHash);
    }
    return (this.#wrong.get(name) ?? 0) > now ? undefined : this.#look(this.#unknown, name, keyHash);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(lookUps: LookUps, name: string, keyHash: Uint8Array): Promise<CachedKey | undefined> {
    const { key, readAt } = await lookUps.find(name, keyHash);
    return this.#keep(name, key, readAt);
  }

  async #refresh(): Promise<void> {
    const now = performance.now();
    const looks: Promise<unknown>[] = [];
    for (const [name, { key, usedAt }] of this.#entries) {
      if (usedAt + KNOWN_AFTER_USE_MS < now) this.#entries.delete(name);
      else if (usedAt + REFRESHED_AFTER_USE_MS > now) looks.push(this.#look(this.#known, name, key.keyHash));
    }
    await Promise.all(looks);
  }

  #keep(name: string, key: KeyInForce | undefined, readAt: number): CachedKey | undefined {
    const known = this.#entries.get(name);
    // Another look-up that began later has come back first.
    if (known !== undefined && known.readAt > readAt) return known.key;
    if (key === undefined) {
      this.#entries.delete(name);
      this.#keepWrong(name);
      return undefined;
    }
    this.#wrong.delete(name);
    const entry = { key: { ...key, bucket: toBucket(key, readAt) }, readAt, usedAt: known?.usedAt ?? readAt };
    const before = known?.key.bucket.quota;
    // Until it is certain again, what was read before holds, with all that was spent here since.
    if (before && entry.key.bucket.quota && this.#isUseUncertain(readAt)) entry.key.bucket.quota.used = before.used;
    this.#entries.set(name, entry);
    return entry.key;
  }

  #keepWrong(name: string): void {
    this.#wrong.delete(name);
    if (this.#wrong.size >= MAX_WRONG) {
      const [oldest] = this.#wrong.keys();
      if (oldest !== undefined) this.#wrong.delete(oldest);
    }
    this.#wrong.set(name, performance.now() + WRONG_LIFE_MS);
  }
}

const nameOf = (keyHash: Uint8Array): string => Buffer.from(keyHash).toString('latin1');

function toBucket({ id, rateRu, windowSeconds, concurrency, quota, used }: KeyInForce, readAt: number): Bucket {
  return {
    name: `key:${id}`,
    apiKeyId: id,
    rateRu,
    windowSeconds,
    concurrency,
    quota: quota && { ...quota, used: { ru: used?.ru ?? 0, since: used?.since ?? '', asOf: readAt } },
  };
}
