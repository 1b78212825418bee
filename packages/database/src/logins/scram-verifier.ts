import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** Returns the verifier of a password that Postgres stores (RFC 5802). It is sent in place of the password, so that no statement log contains it. */
export function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}
