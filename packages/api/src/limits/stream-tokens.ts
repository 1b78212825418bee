/**
 * Tokens of streams, for browsers: an EventSource cannot send the header of a key, and a key must
 * not be in a URL. A token names its key and its end, and is signed with a digest of the key that
 * only the database and the owner of the key know, so nothing is stored.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const TOKEN_LIFE_MS = 3_600_000;
/**
 * The clocks of several APIs differ: a token of one that is ahead is valid at the others at once.
 */
const CLOCK_TOLERANCE_MS = 60_000;
/** Ids of keys are `bigint` in the database. */
const MAX_KEY_ID = 2n ** 63n - 1n;

export interface StreamToken {
  keyId: bigint;
  /** Unix milliseconds. */
  expiresAt: number;
  signature: string;
}

const PREFIX = 'kst_';
const PATTERN = /^kst_(\d{1,19})_(\d{1,16})_([\w-]{43})$/;

/** @param keyHash as `hashKey` makes it */
export function createToken(keyId: bigint, keyHash: Uint8Array, expiresAt: number): string {
  return `kst_${keyId}_${expiresAt}_${sign(keyId, keyHash, expiresAt)}`;
}

/** Returns undefined for anything that does not have the form of a token. */
export function parseToken(text: string): StreamToken | undefined {
  // Most credentials are keys.
  if (!text.startsWith(PREFIX)) return undefined;
  const [, keyId, expiresAt, signature] = PATTERN.exec(text) ?? [];
  if (keyId === undefined || expiresAt === undefined || signature === undefined) return undefined;
  return BigInt(keyId) > MAX_KEY_ID ? undefined : { keyId: BigInt(keyId), expiresAt: Number(expiresAt), signature };
}

/**
 * Returns whether a token was made with the key, and expires within an hour: the owner of the key
 * could sign any time.
 */
export function isValidToken(
  { keyId, expiresAt, signature }: StreamToken,
  keyHash: Uint8Array,
  now = Date.now(),
): boolean {
  const expected = Buffer.from(sign(keyId, keyHash, expiresAt));
  const isInTime = expiresAt > now && expiresAt <= now + TOKEN_LIFE_MS + CLOCK_TOLERANCE_MS;
  return timingSafeEqual(expected, Buffer.from(signature)) && isInTime;
}

/**
 * The owner of a key knows its digest, so a secret of the signature is made of more than that would
 * be pointless: tokens give less than the key.
 */
const sign = (keyId: bigint, keyHash: Uint8Array, expiresAt: number): string =>
  createHmac('sha256', keyHash).update(`stream ${keyId} ${expiresAt}`).digest('base64url');
