/**
 * Admits requests: finds the key, and charges its limits. With several workers all of this happens in the primary process
 * (workers/admission-host.ts), so that a key has each of its limits once.
 */
import { addUsage, findKeyHashes, findKeys } from '@kasgres/database';
import type { Logger } from '@kasgres/runtime';
import { type Awaitable, whenKnown } from '../common/awaitable.ts';
import type { Db } from '../index-state/sql.ts';
import { KeyCache } from './key-cache.ts';
import { type Bucket, type Charge, Limits, type Verdict } from './limits.ts';
import { isValidToken, parseToken, type StreamToken } from './stream-tokens.ts';
import { UsageMeter } from './usage-meter.ts';
import type { Windows } from './windows.ts';

/** The part of a key that requests need. */
export interface RequestKey {
  /** Null for an anonymous client. */
  id: bigint | null;
  readOnly: boolean;
  bucket: Pick<Bucket, 'name' | 'rateRu' | 'windowSeconds'>;
}

/** Without a verdict, the limits could not be charged. */
export type Admitted<Key = RequestKey> = { apiKey: Key } & (
  | { verdict: Verdict }
  | { verdict?: undefined; error: unknown }
);

export interface Admission<Key extends RequestKey = RequestKey> {
  /**
   * Finds a key, or that of a stream token, charges the cost of a request to it and counts the request as in flight, or refuses the request. Each
   * admitted request must be released. Returns undefined if the key or token is invalid.
   */
  admit(credential: string, ru: number): Awaitable<Admitted<Key> | undefined>;
  /** Like `admit`, for a client without a key. @param client its address. Returns undefined if such requests are not served */
  admitAnonymous(client: string, ru: number): Awaitable<Admitted<Key> | undefined>;
  /** Charges what a request in flight costs beyond its first charge. A refusal also refunds the first charge, unless that is null. */
  chargeMore(apiKey: Key, first: Charge | null, ru: number): Promise<Verdict>;
  release(apiKey: Key): void;
  /** Returns whether a key, or that of a stream token, is in force, without a charge. */
  isInForce(credential: string): Promise<boolean>;
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
  /** Request units per second of each client without a key; undefined if they are refused. */
  anonymousRateRu?: number | undefined;
}

/** A key with the bucket that limits are charged to. */
export interface LocalKey extends RequestKey {
  bucket: Bucket;
}

const ANONYMOUS_CONCURRENCY = 32;

/** Admits requests in this process. */
export class LocalAdmission implements Admission<LocalKey> {
  readonly #keys: KeyCache;
  readonly #limits: Limits;
  readonly #anonymousRateRu: number | undefined;

  constructor({ database, unknownKeysDatabase, windows, logger, anonymousRateRu }: AdmissionOptions) {
    this.#anonymousRateRu = anonymousRateRu;
    const warn = (message: string) => (error: unknown) => logger.warn({ reason: String(error) }, message);
    const usage = new UsageMeter((batch) => addUsage(database, batch), warn('could not write usage'));
    this.#limits = new Limits(windows, usage);
    this.#keys = new KeyCache({
      readKnown: (keyHashes) => findKeys(database, keyHashes),
      readUnknown: (keyHashes) => findKeys(unknownKeysDatabase, keyHashes),
      readHashes: (ids) => findKeyHashes(unknownKeysDatabase, ids),
      isUsageUncertain: (since) => usage.mayHaveWrittenSince(since),
      onError: warn('could not refresh keys'),
    });
  }

  admit(credential: string, ru: number): Awaitable<Admitted<LocalKey> | undefined> {
    return whenKnown(this.#find(credential), (key) => key && this.#charge(key, ru));
  }

  async isInForce(credential: string): Promise<boolean> {
    return (await this.#find(credential)) !== undefined;
  }

  admitAnonymous(client: string, ru: number): Awaitable<Admitted<LocalKey> | undefined> {
    if (this.#anonymousRateRu === undefined) return undefined;
    const bucket = {
      name: `anonymous:${client}`,
      apiKeyId: null,
      rateRu: this.#anonymousRateRu,
      windowSeconds: 1,
      concurrency: ANONYMOUS_CONCURRENCY,
      quota: undefined,
    };
    return this.#charge({ id: null, readOnly: true, bucket }, ru);
  }

  #charge(apiKey: LocalKey, ru: number): Awaitable<Admitted<LocalKey>> {
    return whenKnown<Verdict, Admitted<LocalKey>>(
      this.#limits.admit(apiKey.bucket, ru),
      (verdict) => ({ apiKey, verdict }),
      (error) => ({ apiKey, error }),
    );
  }

  #find(credential: string): Awaitable<LocalKey | undefined> {
    const token = parseToken(credential);
    return token === undefined ? this.#keys.find(credential) : this.#findByToken(token);
  }

  /** Also checks the key of the token, which may be revoked or expired. */
  async #findByToken(token: StreamToken): Promise<LocalKey | undefined> {
    const hash = await this.#keys.findHash(token.keyId);
    return hash !== undefined && isValidToken(token, hash) ? await this.#keys.findByHash(hash) : undefined;
  }

  isBusy({ bucket }: LocalKey): boolean {
    return this.#limits.isBusy(bucket);
  }

  chargeMore({ bucket }: LocalKey, first: Charge | null, ru: number): Promise<Verdict> {
    return this.#limits.chargeMore(bucket, first, ru);
  }

  release({ bucket }: LocalKey): void {
    this.#limits.release(bucket);
  }

  async close(): Promise<void> {
    this.#keys.close();
    await this.#limits.close();
  }
}
