/**
 * Secrets of webhooks: 32 random bytes each, stored encrypted, so that a copy of the database does
 * not let anybody sign deliveries. The key is WEBHOOK_SECRET_KEY, or a file in DATA_DIR that is
 * created when it is first needed.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@kasgres/runtime';

const SECRET_BYTES = 32;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FILE = 'webhook-secret-key';

/** Thrown with a message for the operator. */
export class SecretKeyError extends Error {
  override name = 'SecretKeyError';
}

/** Returns undefined if the text is not the base64 of 32 bytes. */
export function parseSecretKey(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), 'base64');
  return key.length === KEY_BYTES && key.toString('base64') === text.trim() ? key : undefined;
}

/** Encrypts with AES-256-GCM: nonce, ciphertext and tag are stored together. */
export class SecretBox {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  encrypt(secret: Uint8Array): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  }

  /** @throws SecretKeyError if it was encrypted with another key */
  decrypt(stored: Uint8Array): Buffer {
    try {
      const bytes = Buffer.from(stored);
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch (cause) {
      throw new SecretKeyError(
        'The secret of a webhook was encrypted with another key: set WEBHOOK_SECRET_KEY to the same value for the API and `kasgres webhooks`',
        { cause },
      );
    }
  }

  /**
   * Returns the secrets that sign. A previous one that was encrypted with another key does not:
   * that key was lost, and the secret was replaced for that reason.
   * @throws SecretKeyError if the current one was encrypted with another key
   */
  decryptSigning(current: Uint8Array, previous: Uint8Array | null): Buffer[] {
    const secret = this.decrypt(current);
    try {
      return previous === null ? [secret] : [secret, this.decrypt(previous)];
    } catch {
      return [secret];
    }
  }
}

export interface SecretKeyOptions {
  /** The value of WEBHOOK_SECRET_KEY. */
  secretKey: Buffer | undefined;
  dataDir: string;
}

/**
 * Returns a function that opens the box once, when it is first needed. A failure is retried with
 * the next call.
 */
export function secretBoxOpener({ secretKey, dataDir }: SecretKeyOptions): () => Promise<SecretBox> {
  let box: SecretBox | undefined;
  return async () => (box ??= new SecretBox(secretKey ?? (await readOrCreateKey(dataDir))));
}

/**
 * Several processes may create the file at once: the first one wins, and the others read its key.
 */
async function readOrCreateKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, FILE);
  try {
    const known = await readIfAny(path);
    if (known === undefined) {
      await makeFolder(dataDir);
      const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
      await writeFile(temporary, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true });
      await link(temporary, path).catch(ignoreExisting);
      await rm(temporary);
    }
    const key = parseSecretKey(known ?? (await readFile(path, 'utf8')));
    if (key === undefined) throw new SecretKeyError(`${path} does not have the base64 of 32 bytes`);
    return key;
  } catch (cause) {
    if (cause instanceof SecretKeyError) throw cause;
    throw new SecretKeyError(`${path} cannot be read or created: set WEBHOOK_SECRET_KEY, or DATA_DIR`, { cause });
  }
}

async function readIfAny(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

export const createSecret = (): Buffer => randomBytes(SECRET_BYTES);

/** Returns a secret in the form that Standard Webhooks gives to its owner. */
export const formatSecret = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString('base64')}`;

/**
 * Returns the header `webhook-signature`: one signature per secret, as the specification of
 * Standard Webhooks says.
 */
export function sign(secrets: readonly Uint8Array[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ');
}
