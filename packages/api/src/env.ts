import { readFileSync } from 'node:fs';
import { LEAST_COST_RU } from '@kasgres/database';
import { parseNodeUrls } from '@kasgres/node';
import { LOG_LEVELS, parsed, postgresUrl } from '@kasgres/runtime';
import { sharedVariables } from '@kasgres/webhooks';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { toCertificate } from './http/certificate.ts';
import { isCorsOrigin } from './http/cors.ts';

const port = z.coerce.number().int().min(0).max(65_535);

const splitOrigins = (text: string): string[] => text.split(',').map((origin) => origin.trim());

const origins = z
  .string()
  .refine((text) => splitOrigins(text).every(isCorsOrigin), {
    error:
      'expected origins such as https://example.org, without a path, separated by commas; or *; the port may be * for localhost, 127.0.0.1 and [::1]',
  })
  .transform(splitOrigins);

const PROXY_RANGES = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** Other forms of IPv4, such as the 1 that means one proxy elsewhere, are likely mistakes. */
function isProxy(text: string): boolean {
  const [host = ''] = text.split('/');
  const isUsual = host.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(host);
  return PROXY_RANGES.has(text) || (isUsual && (ipaddr.isValid(text) || ipaddr.isValidCIDR(text)));
}

const proxies = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((parts) => parts.every(isProxy), {
    error: 'expected addresses such as 10.0.0.1 or ranges such as 10.0.0.0/8, separated by commas',
  });

const variables = z.object({
  DATABASE_URL: postgresUrl().describe(
    'Postgres: postgres://user:password@host:port/database. Keys and usage are read and written here.',
  ),
  DATABASE_READ_URL: postgresUrl()
    .optional()
    .describe('A replica to read responses from. Unset: the database of DATABASE_URL.'),
  NODE_URL: parsed(parseNodeUrls).describe(
    'kaspad for the mempool, block templates and submissions: grpc://host:port. Several, separated by commas: calls fail over to the next one.',
  ),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
  PORT: port.default(3000).describe('Port to listen on; 0 chooses a free one.'),
  METRICS_PORT: port
    .default(9100)
    .describe('Port of /metrics, /healthz and /readyz; 0 chooses a free one, which is logged.'),
  METRICS_HOST: z.string().min(1).default('127.0.0.1').describe('Address of /metrics, /healthz and /readyz.'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}.`),
  API_WORKERS: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(1)
    .describe(
      'Processes that serve PORT together, for machines with several cores. They share rates and quotas by DATABASE_URL; requests in flight count in each.',
    ),
  DATABASE_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .default(10)
    .describe(
      'Largest number of connections for responses, divided among API_WORKERS with at least 2 each; a few more are for keys, usage, rate limits and the status.',
    ),
  RATE_LIMIT_STORE: z
    .enum(['memory', 'postgres'])
    .optional()
    .describe(
      'Where rate limits are counted: `memory`, in this API alone; `postgres`, for all processes with the same DATABASE_URL. Unset: memory, or postgres if API_WORKERS is above 1, with which `memory` is an error.',
    ),
  CORS_ORIGINS: origins
    .optional()
    .describe(
      'Origins whose pages may call the API from a browser, separated by commas; `*` for all. `http://localhost:*` allows any port of this machine. Unset: none, or those of this machine with the simulated node of `start`.',
    ),
  ANONYMOUS_RATE_RU: z.coerce
    .number()
    .min(LEAST_COST_RU)
    .max(1_000_000)
    .optional()
    .describe(
      'Serves requests without a key: request units per second of each client address (of each /64 with IPv6). Unset: they are refused.',
    ),
  TRUST_PROXY: proxies
    .optional()
    .describe(
      'Addresses of reverse proxies, separated by commas, as 10.0.0.1 or 10.0.0.0/8, or `loopback`, `linklocal`, `uniquelocal`: `x-forwarded-for` of their requests names the client. Unset: none.',
    ),
  STREAM_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .default(5000)
    .describe(
      'Largest number of streams and WebSockets at once, divided among API_WORKERS. Clients without a key have at most half of them; when all are in use, a key with fewer gets the latest place of the one with the most.',
    ),
  EXPLORER: z.stringbool().default(true).describe('Serves the web explorer at `/`. `false`: `/` redirects to /docs.'),
  ...sharedVariables,
  TLS_CERT_FILE: z
    .string()
    .optional()
    .describe(
      'PEM file of the certificate with its chain, for HTTPS. Renewed files are reloaded automatically. Unset: HTTP.',
    ),
  TLS_KEY_FILE: z.string().optional().describe('PEM file of the private key of the certificate.'),
});

/** Also checks variables that depend on others, even if further ones are invalid. */
export const envSchema = variables.superRefine(
  ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, API_WORKERS: workers, RATE_LIMIT_STORE: store }, context) => {
    const report = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (workers > 1 && store === 'memory') report('RATE_LIMIT_STORE', SHARED_BY_WORKERS);
    if (certFile === undefined && keyFile === undefined) return;
    const [cert, key] = [certFile && readPem(certFile), keyFile && readPem(keyFile)];
    if (!cert) report('TLS_CERT_FILE', certFile === undefined ? 'is not set, but TLS_KEY_FILE is' : NOT_PEM);
    if (!key) report('TLS_KEY_FILE', keyFile === undefined ? 'is not set, but TLS_CERT_FILE is' : NOT_PEM);
    if (!cert || !key) return;
    try {
      toCertificate(cert, key);
    } catch (error) {
      report('TLS_CERT_FILE', `cannot be used with TLS_KEY_FILE: ${String(error)}`);
    }
  },
  { when: () => true },
);

export type Env = z.infer<typeof envSchema>;

const SHARED_BY_WORKERS =
  'must be postgres or unset if API_WORKERS is above 1: in memory, each worker would allow the whole rate';

const NOT_PEM = 'cannot be read, or is not a PEM file';

function readPem(path: string): Buffer | undefined {
  try {
    const content = readFileSync(path);
    return content.includes('-----BEGIN ') ? content : undefined;
  } catch {
    return undefined;
  }
}
