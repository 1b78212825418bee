/**
 * Admits requests: finds the key, and charges its limits. Each process does so for its own
 * requests, and only windows are shared: requests in flight and keys are in memory, and processes
 * learn of each other's usage when they read the key again.
 */
import { addUsage, findKeyHashes, findKeys } from '@kasgres/database';
import { type Awaitable, type Db, whenKnown } from '@kasgres/reads';
import type { Logger } from '@kasgres/runtime';
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
  bucket: Bucket;
}

/** Without a verdict, the limits could not be charged. */
export type Admitted = { apiKey: RequestKey } & ({ verdict: Verdict } | { verdict?: undefined; error: unknown });

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

const ANONYMOUS_CONCURRENCY = 32;

export class Admission {
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

  /**
   * Finds a key, or that of a stream token, charges the cost of a request to it and counts the
   * request as in flight, or refuses the request. Each admitted request must be released. Returns
   * undefined if the key or token is invalid.
   */
  admit(credential: string, ru: number): Awaitable<Admitted | undefined> {
    return whenKnown(this.#find(credential), (key) => key && this.#charge(key, ru));
  }

  /** Returns whether a key, or that of a stream token, is in force, without a charge. */
  async isInForce(credential: string): Promise<boolean> {
    return (await this.#find(credential)) !== undefined;
  }

  /**
   * Like `admit`, for a client without a key.
   * @param client its address. Returns undefined if such requests are not served
   */
  admitAnonymous(client: string, ru: number): Awaitable<Admitted | undefined> {
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

  #charge(apiKey: RequestKey, ru: number): Awaitable<Admitted> {
    return whenKnown<Verdict, Admitted>(
      this.#limits.admit(apiKey.bucket, ru),
      (verdict) => ({ apiKey, verdict }),
      (error) => ({ apiKey, error }),
    );
  }

  #find(credential: string): Awaitable<RequestKey | undefined> {
    const token = parseToken(credential);
    return token === undefined ? this.#keys.find(credential) : this.#findByToken(token);
  }

  /** Also checks the key of the token, which may be revoked or expired. */
  async #findByToken(token: StreamToken): Promise<RequestKey | undefined> {
    const hash = await this.#keys.findHash(token.keyId);
    return hash !== undefined && isValidToken(token, hash) ? await this.#keys.findByHash(hash) : undefined;
  }

  /**
   * Charges what a request in flight costs beyond its first charge. A refusal also refunds the
   * first charge, unless that is null.
   */
  chargeMore({ bucket }: RequestKey, first: Charge | null, ru: number): Promise<Verdict> {
    return this.#limits.chargeMore(bucket, first, ru);
  }

  release({ bucket }: RequestKey): void {
    this.#limits.release(bucket);
  }

  /** Writes the usage that is not written yet. */
  async close(): Promise<void> {
    this.#keys.close();
    await this.#limits.close();
  }
}
