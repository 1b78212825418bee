/**
 * Caches API keys. Keys in use are refreshed every second in one query, so that requests do not
 * wait for the database and a revoked key is refused within seconds. Other keys, most of them
 * invalid, are looked up over a separate connection, so that a flood of them delays no key in use.
 */
import { hashKey, type KeyInForce } from '@kasgres/database';
import { type Awaitable, unavailable, whenKnown } from '@kasgres/reads';
import { Batches } from './batches.ts';
import type { Bucket } from './limits.ts';

export interface CachedKey extends KeyInForce {
  bucket: Bucket;
}

interface KeyHash {
  keyHash: Uint8Array;
  /** The hash as the key of a map. */
  name: string;
}

interface Entry {
  key: CachedKey;
  /** The text of the key, if it was found by that. */
  text: string | undefined;
  /** Both by performance.now(). */
  readAt: number;
  usedAt: number;
}

type ReadKeys = (keyHashes: readonly Uint8Array[]) => Promise<KeyInForce[]>;

export interface KeyCacheOptions {
  readKnown: ReadKeys;
  /** Reads all other keys; should not share connections with `readKnown`. */
  readUnknown: ReadKeys;
  /** Reads the hashes of keys by their ids, over the connection of `readUnknown`. */
  readHashes: (ids: readonly bigint[]) => Promise<ReadonlyMap<bigint, Uint8Array>>;
  /**
   * Returns whether usage read since a time (by performance.now()) may or may not include what this
   * process was writing meanwhile.
   */
  isUsageUncertain: (since: number) => boolean;
  onError: (error: unknown) => void;
}

const REFRESH_MS = 1000;
/** How long a key is valid after it was read, also during an outage of the database. */
const LIFE_MS = 3000;
const REFRESHED_AFTER_USE_MS = 60_000;
const KNOWN_AFTER_USE_MS = 3_600_000;
/**
 * How long an invalid key is refused from memory. A key that is created after it was tried works
 * this much later.
 */
const INVALID_LIFE_MS = 2000;
const MAX_INVALID = 10_000;
const MAX_PER_QUERY = 500;
const MAX_PENDING = 10_000;
const MAX_KNOWN_IDS = 10_000;

const KEY_PATTERN = /^kdp_[0-9a-f]{64}$/;

/** Returns whether the text has the form of a key. */
export const isKey = (text: string): boolean => KEY_PATTERN.test(text);

export class KeyCache {
  readonly #known: Batches<Uint8Array, Found>;
  readonly #unknown: Batches<Uint8Array, Found>;
  readonly #isUsageUncertain: KeyCacheOptions['isUsageUncertain'];
  /** This and the two maps after it are by the hash of the key. */
  readonly #entries = new Map<string, Entry>();
  readonly #lookUps = new Map<string, Promise<CachedKey | undefined>>();
  /** Keys and ids of keys that do not exist. */
  readonly #invalid = new InvalidNames();
  readonly #ids: Batches<bigint, Uint8Array | undefined>;
  /** Hashes of keys by their ids, which never change. */
  readonly #hashesById = new Map<bigint, Uint8Array>();
  /**
   * Hashes by the text of the key, of those in #entries, so that keys in use are not hashed for
   * each request. How long a comparison of texts takes tells nothing about a key: V8 compares only
   * texts with equal hashes, and such a guess shares no useful prefix with 256 random bits.
   */
  readonly #hashes = new Map<string, KeyHash>();
  readonly #timer: NodeJS.Timeout;

  constructor({ readKnown, readUnknown, readHashes, isUsageUncertain, onError }: KeyCacheOptions) {
    this.#known = lookUpsOf(readKnown);
    this.#unknown = lookUpsOf(readUnknown);
    this.#ids = batchesOf(async (ids) => {
      const found = await readHashes(ids);
      return ids.map((id) => found.get(id));
    });
    this.#isUsageUncertain = isUsageUncertain;
    this.#timer = setInterval(() => void this.#refresh().catch(onError), REFRESH_MS).unref();
  }

  find(key: string): Awaitable<CachedKey | undefined> {
    const known = this.#hashes.get(key);
    if (known !== undefined) return this.#find(known);
    if (!isKey(key)) return undefined;
    const hash = toKeyHash(hashKey(key));
    return whenKnown(this.#find(hash), (found) => {
      const entry = this.#entries.get(hash.name);
      if (entry !== undefined) {
        entry.text = key;
        this.#hashes.set(key, hash);
      }
      return found;
    });
  }

  findByHash(keyHash: Uint8Array): Awaitable<CachedKey | undefined> {
    return this.#find(toKeyHash(keyHash));
  }

  /**
   * Returns the hash of a key, which may not be in force. An id that does not exist costs what a
   * key that does not exist costs.
   */
  findHash(id: bigint): Awaitable<Uint8Array | undefined> {
    const known = this.#hashesById.get(id);
    const name = `id ${id}`;
    if (known !== undefined || this.#invalid.has(name)) return known;
    return this.#ids.add(id).then((hash) => {
      if (hash === undefined) this.#invalid.add(name);
      else {
        if (this.#hashesById.size >= MAX_KNOWN_IDS) this.#hashesById.clear();
        this.#hashesById.set(id, hash);
      }
      return hash;
    });
  }

  #find({ name, keyHash }: KeyHash): Awaitable<CachedKey | undefined> {
    const now = performance.now();
    const entry = this.#entries.get(name);
    if (entry !== undefined) return use(entry, now) ?? this.#lookUp(this.#known, name, keyHash);
    return this.#invalid.has(name) ? undefined : this.#lookUp(this.#unknown, name, keyHash);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #lookUp(lookUps: Batches<Uint8Array, Found>, name: string, keyHash: Uint8Array): Promise<CachedKey | undefined> {
    const running = this.#lookUps.get(name);
    if (running !== undefined) return running;
    const found = lookUps
      .add(keyHash)
      .then(({ key, readAt }) => this.#keep(name, key, readAt))
      .finally(() => this.#lookUps.delete(name));
    this.#lookUps.set(name, found);
    return found;
  }

  async #refresh(): Promise<void> {
    const now = performance.now();
    const lookUps: Promise<unknown>[] = [];
    for (const [name, { key, usedAt }] of this.#entries) {
      if (usedAt + KNOWN_AFTER_USE_MS < now) this.#forget(name);
      else if (usedAt + REFRESHED_AFTER_USE_MS > now) lookUps.push(this.#lookUp(this.#known, name, key.keyHash));
    }
    await Promise.all(lookUps);
  }

  #keep(name: string, key: KeyInForce | undefined, readAt: number): CachedKey | undefined {
    const known = this.#entries.get(name);
    if (key === undefined) {
      this.#forget(name);
      this.#invalid.add(name);
      return undefined;
    }
    this.#invalid.delete(name);
    const entry: Entry = {
      key: { ...key, bucket: toBucket(key, readAt) },
      text: known?.text,
      readAt,
      usedAt: known?.usedAt ?? readAt,
    };
    const previous = known?.key.bucket.quota;
    // While the usage is uncertain, the one read before stays, to which everything spent here since
    // is added.
    if (previous && entry.key.bucket.quota && this.#isUsageUncertain(readAt))
      entry.key.bucket.quota.used = previous.used;
    this.#entries.set(name, entry);
    return entry.key;
  }

  #forget(name: string): void {
    const text = this.#entries.get(name)?.text;
    if (text !== undefined) this.#hashes.delete(text);
    this.#entries.delete(name);
  }
}

/** Refuses keys that were looked up without success from memory for a short time. */
class InvalidNames {
  /** When each expires, oldest first. */
  readonly #names = new Map<string, number>();

  has(name: string): boolean {
    return (this.#names.get(name) ?? 0) > performance.now();
  }

  add(name: string): void {
    this.#names.delete(name);
    const [oldest] = this.#names.keys();
    if (oldest !== undefined && this.#names.size >= MAX_INVALID) this.#names.delete(oldest);
    this.#names.set(name, performance.now() + INVALID_LIFE_MS);
  }

  delete(name: string): void {
    this.#names.delete(name);
  }
}

/** Notes the use of a key. Returns undefined if it must be read again. */
function use(entry: Entry, now: number): CachedKey | undefined {
  entry.usedAt = now;
  return entry.readAt + LIFE_MS > now ? entry.key : undefined;
}

interface Found {
  key: KeyInForce | undefined;
  /** When the query began, by performance.now(). */
  readAt: number;
}

const lookUpsOf = (read: ReadKeys) =>
  batchesOf<Uint8Array, Found>(async (keyHashes) => {
    const readAt = performance.now();
    const byName = new Map((await read(keyHashes)).map((key) => [nameOf(key.keyHash), key]));
    return keyHashes.map((keyHash) => ({ key: byName.get(nameOf(keyHash)), readAt }));
  });

const batchesOf = <Item, Result>(run: (items: Item[]) => Promise<Result[]>) =>
  new Batches<Item, Result>({
    run,
    maxItems: MAX_PER_QUERY,
    maxPending: MAX_PENDING,
    busy: () => unavailable('Too many keys are being looked up', 1),
  });

const toKeyHash = (keyHash: Uint8Array): KeyHash => ({ keyHash, name: nameOf(keyHash) });

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
