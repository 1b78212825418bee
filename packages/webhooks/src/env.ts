/** The environment of `kasgres webhooks`, and the variables that it shares with the API. */
import { LOG_LEVELS, parsed, postgresUrl } from '@kasgres/runtime';
import { z } from 'zod';
import { parseSecretKey } from './secrets.ts';
import { parseAllowed } from './targets.ts';

const port = z.coerce.number().int().min(0).max(65_535);

/**
 * The API encrypts the secrets of webhooks and checks their URLs; `kasgres webhooks` decrypts and
 * checks again.
 */
export const sharedVariables = {
  WEBHOOK_ALLOW: parsed(parseAllowed)
    .optional()
    .describe(
      'Addresses and ranges that webhooks may reach although they are not reachable over the internet, such as 10.0.0.0/8,127.0.0.1, also with http. Unset: none. The API and `kasgres webhooks` need the same.',
    ),
  WEBHOOK_SECRET_KEY: parsed((text) => {
    const key = parseSecretKey(text);
    if (key === undefined) throw new Error('expected the base64 of 32 bytes, as from `openssl rand -base64 32`');
    return key;
  })
    .optional()
    .describe(
      'Encrypts the secrets of webhooks in the database: base64 of 32 bytes, as from `openssl rand -base64 32`. The API and `kasgres webhooks` need the same. Unset: the file `webhook-secret-key` in DATA_DIR, which is created when it is first needed.',
    ),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Where `webhook-secret-key` is, if WEBHOOK_SECRET_KEY is unset.'),
};

export const webhooksEnvSchema = z.object({
  DATABASE_URL: postgresUrl().describe(
    'Postgres: postgres://user:password@host:port/database. Webhooks and their cursors are written here.',
  ),
  ...sharedVariables,
  METRICS_PORT: port
    .default(9102)
    .describe('Port of /metrics, /healthz and /readyz; 0 chooses a free one, which is logged.'),
  METRICS_HOST: z.string().min(1).default('127.0.0.1').describe('Address of /metrics, /healthz and /readyz.'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}.`),
});

export type WebhooksEnv = z.infer<typeof webhooksEnvSchema>;
