/** The environment of the API. */
import { readFileSync } from 'node:fs';
import { parseNodeUrls } from '@kasgres/node';
import { LOG_LEVELS, parsed, postgresUrl } from '@kasgres/runtime';
import { z } from 'zod';
import { toCertificate } from './http/certificate.ts';
import { isCorsOrigin } from './http/cors.ts';

const port = z.coerce.number().int().min(0).max(65_535);

const splitOrigins = (text: string): string[] => text.split(',').map((part) => part.trim());

const origins = z
  .string()
  .refine((text) => splitOrigins(text).every(isCorsOrigin), {
    error:
      'expected origins such as https://example.org, without a path, separated by commas; or *; a port may be * for localhost, 127.0.0.1 and [::1]',
  })
  .transform(splitOrigins);

const pemFile = z
  .string()
  .min(1)
  .refine((path) => readPem(path) !== undefined, { error: 'cannot be read, or is no PEM file' });

function readPem(path: string): Buffer | undefined {
  try {
    const content = readFileSync(path);
    return content.includes('-----BEGIN ') ? content : undefined;
  } catch {
    return undefined;
  }
}

const variables = z.object({
  DATABASE_URL: postgresUrl().describe('Postgres with keys and usage: postgres://user:password@host:port/database.'),
  DATABASE_READ_URL: postgresUrl()
    .optional()
    .describe('A replica to answer from. Unset: the database of DATABASE_URL.'),
  NODE_URL: parsed(parseNodeUrls).describe(
    'kaspad to ask for mempool and block templates: grpc://host:port. Several, separated by commas: one is asked until it fails, then the next.',
  ),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen at.'),
  PORT: port.default(3000).describe('Port to listen at; 0 takes a free one.'),
  METRICS_PORT: port.default(9100).describe('Port of /metrics, /healthz and /readyz.'),
  METRICS_HOST: z.string().min(1).default('127.0.0.1').describe('Address of /metrics, /healthz and /readyz.'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}.`),
  DATABASE_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .default(10)
    .describe('Most connections that answers are read through; a few more are for keys, usage and rate limits.'),
  RATE_LIMIT_STORE: z
    .enum(['memory', 'postgres'])
    .default('memory')
    .describe(
      'Where rate limits are counted: `memory`, by each API process for itself; `postgres`, for all that share a DATABASE_URL.',
    ),
  CORS_ORIGINS: origins
    .optional()
    .describe(
      'Origins whose pages may call the API from a browser, separated by commas; `*` for all. `http://localhost:*` is any port of this machine. Unset: none; with the simulated node of `start`, those of this machine.',
    ),
  TLS_CERT_FILE: pemFile
    .optional()
    .describe(
      'PEM file of the certificate, with its chain, for HTTPS. Renewed files are taken by themselves. Unset: HTTP.',
    ),
  TLS_KEY_FILE: pemFile.optional().describe('PEM file of the key of the certificate.'),
});

/** The two files of HTTPS belong together; said beside whatever else is wrong. */
export const envSchema = variables.superRefine(
  ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }, context) => {
    const report = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (certFile === undefined && keyFile === undefined) return;
    if (certFile === undefined) return report('TLS_CERT_FILE', 'is not set, but TLS_KEY_FILE is');
    if (keyFile === undefined) return report('TLS_KEY_FILE', 'is not set, but TLS_CERT_FILE is');
    const [cert, key] = [readPem(certFile), readPem(keyFile)];
    if (cert === undefined || key === undefined) return;
    try {
      toCertificate(cert, key);
    } catch (error) {
      report('TLS_CERT_FILE', `cannot be used with TLS_KEY_FILE: ${String(error)}`);
    }
  },
  { when: () => true },
);

export type Env = z.infer<typeof envSchema>;
