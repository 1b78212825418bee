/**
 * The certificate that the API serves HTTPS with, from two PEM files, and from the same files again when it was renewed. The files are
 * read again rather than watched: they are often links to a folder that is swapped, of which a watcher hears nothing.
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

const READ_AGAIN_MS = 5000;

/** @throws Error when a file cannot be read, is not what it should be, or the two do not belong together */
export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  return toCertificate(await readFile(certFile), await readFile(keyFile));
}

/** @throws Error when they are not PEM, or do not belong together */
export function toCertificate(cert: Buffer, key: Buffer): Certificate {
  const parsed = new X509Certificate(cert);
  if (!parsed.checkPrivateKey(createPrivateKey(key))) throw new Error('The key is not that of the certificate');
  createSecureContext({ cert, key });
  return { cert, key, expiresAt: parsed.validToDate };
}

export interface RenewalOptions {
  server: Pick<Server, 'setSecureContext'>;
  files: CertificateFiles;
  /** What the server began with. */
  certificate: Certificate;
  /** Hears of each certificate that is taken. */
  onRenewed: (certificate: Certificate) => void;
  logger: Logger;
}

/** Gives new connections the certificate that is in the files; connections that are open keep theirs. */
export class CertificateRenewal {
  readonly #options: RenewalOptions;
  readonly #timer: NodeJS.Timeout;
  #current: Certificate;
  #failure: string | undefined;

  constructor(options: RenewalOptions) {
    this.#options = options;
    this.#current = options.certificate;
    this.#timer = setInterval(() => void this.renew(), READ_AGAIN_MS).unref();
  }

  /** Takes what is in the files now, if it is new and can be used. */
  async renew(): Promise<void> {
    const { server, files, onRenewed, logger } = this.#options;
    try {
      const found = await readCertificate(files);
      this.#failure = undefined;
      if (found.cert.equals(this.#current.cert) && found.key.equals(this.#current.key)) return;
      server.setSecureContext({ cert: found.cert, key: found.key });
      this.#current = found;
      onRenewed(found);
      logger.info({ expiresAt: found.expiresAt }, 'took a renewed certificate');
    } catch (error) {
      // Between the writing of the one file and of the other they do not fit. A failure that stays is told once.
      const reason = String(error);
      if (reason !== this.#failure) logger.warn({ reason }, 'kept the certificate, since the files cannot be used');
      this.#failure = reason;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
