/**
 * Admits requests: finds the key, and charges its limits. With several workers all of this happens in the primary process
 * (workers/admission-host.ts), so that a key has each of its limits once.
 */
import { addUsage, findKeys } from '@kasgres/database';
import type { Logger } from '@kasgres/runtime';
import { type CachedKey, KeyCache } from '../http/key-cache.ts';
import type { Db } from '../index-state/sql.ts';
import { type Bucket, type Charge, Limits, type Verdict } from './limits.ts';
import { UsageMeter } from './usage-meter.ts';
import type { Windows } from './windows.ts';

/** What requests need of a key. */
export interface RequestKey extends Pick<CachedKey, 'id' | 'readOnly'> {
  bucket: Pick<Bucket, 'name' | 'rateRu' | 'windowSeconds'>;
}

/** Without a verdict, the limits could not be charged. */
export type Admitted<Key = RequestKey> = { apiKey: Key } & (
  | { verdict: Verdict }
  | { verdict?: undefined; error: unknown }
);

export interface Admission<Key extends RequestKey = RequestKey> {
  /**
   * Finds a key, charges the cost of a request to it and counts the request as in flight, or refuses the request. Each admitted request must be
   * released. Returns undefined if the key is invalid.
   */
  admit(key: string, ru: number): Promise<Admitted<Key> | undefined>;
  /** Charges what a request in flight costs beyond its first charge. A refusal also refunds the first charge. */
  chargeMore(apiKey: Key, first: Charge, ru: number): Promise<Verdict>;
  release(apiKey: Key): void;
  /** Writes the usage that is not written yet. */
  close(): Promise<void>;
}

export interface AdmissionOptions {
  /** The primary, for keys and usage. */
  database: Db;
  /** Separate connections to the primary, for keys that are not cached. */
  unknownKeysDatabase: Db;
  windows: Windows;
  logger: Logger;
}

/** Admits requests in this process. */
export class LocalAdmission implements Admission<CachedKey> {
  readonly #keys: KeyCache;
  readonly #limits: Limits;

  constructor({ database, unknownKeysDatabase, windows, logger }: AdmissionOptions) {
    const warn = (message: string) => (error: unknown) => logger.warn({ reason: String(error) }, message);
    const usage = new UsageMeter((batch) => addUsage(database, batch), warn('could not write usage'));
    this.#limits = new Limits(windows, usage);
    this.#keys = new KeyCache({
      readKnown: (keyHashes) => findKeys(database, keyHashes),
      readUnknown: (keyHashes) => findKeys(unknownKeysDatabase, keyHashes),
      isUsageUncertain: (since) => usage.mayHaveWrittenSince(since),
      onError: warn('could not refresh keys'),
    });
  }

  async admit(key: string, ru: number): Promise<Admitted<CachedKey> | undefined> {
    const apiKey = await this.#keys.find(key);
    if (apiKey === undefined) return undefined;
    try {
      return { apiKey, verdict: await this.#limits.admit(apiKey.bucket, ru) };
    } catch (error) {
      return { apiKey, error };
    }
  }

  isBusy({ bucket }: CachedKey): boolean {
    return this.#limits.isBusy(bucket);
  }

  chargeMore({ bucket }: CachedKey, first: Charge, ru: number): Promise<Verdict> {
    return this.#limits.chargeMore(bucket, first, ru);
  }

  release({ bucket }: CachedKey): void {
    this.#limits.release(bucket);
  }

  async close(): Promise<void> {
    this.#keys.close();
    await this.#limits.close();
  }
}
