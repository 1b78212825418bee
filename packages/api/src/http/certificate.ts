/**
 * Reads the certificate of the HTTPS server from two PEM files, and reloads it when it is renewed.
 * The files are polled, not watched, since they are often links into a directory that is swapped,
 * which a watcher does not notice.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Logger } from '@kasgres/runtime';

export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

export interface Certificate {
  cert: Buffer;
  key: Buffer;
  expiresAt: Date;
}

const RELOAD_EVERY_MS = 5000;

export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  return toCertificate(await readFile(certFile), await readFile(keyFile));
}

/** @throws Error if they are not PEM, or do not match */
export function toCertificate(cert: Buffer, key: Buffer): Certificate {
  const parsed = new X509Certificate(cert);
  if (!parsed.checkPrivateKey(createPrivateKey(key))) throw new Error('the private key does not match the certificate');
  createSecureContext({ cert, key });
  return { cert, key, expiresAt: new Date(parsed.validTo) };
}

export interface RenewalOptions {
  server: Pick<Server, 'setSecureContext'>;
  files: CertificateFiles;
  certificate: Certificate;
  onRenewed: (certificate: Certificate) => void;
  logger: Logger;
}

/**
 * Reloads the files from time to time. New connections get a renewed certificate, open ones keep
 * theirs. Returns a function that stops it.
 */
export function renewCertificate({ server, files, certificate, onRenewed, logger }: RenewalOptions): () => void {
  let current = certificate;
  let failure: string | undefined;
  const reload = async (): Promise<void> => {
    try {
      const found = await readCertificate(files);
      failure = undefined;
      if (found.cert.equals(current.cert) && found.key.equals(current.key)) return;
      server.setSecureContext({ cert: found.cert, key: found.key });
      current = found;
      onRenewed(found);
      logger.info({ expiresAt: found.expiresAt }, 'loaded renewed certificate');
    } catch (error) {
      // While a renewal writes the files one after the other, they do not match. A lasting failure
      // is logged once.
      const reason = String(error);
      if (reason !== failure)
        logger.warn({ reason }, 'could not load certificate files, keeping the current certificate');
      failure = reason;
    }
  };
  const timer = setInterval(() => void reload(), RELOAD_EVERY_MS).unref();
  return () => clearInterval(timer);
}
