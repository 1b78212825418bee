/** The environment of the API. */
import { LOG_LEVELS } from '@kasgres/runtime';
import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);

export const envSchema = z.object({
  DATABASE_URL: z
    .string()
    .min(1)
    .describe('Postgres with keys and usage: postgres://user:password@host:port/database.'),
  DATABASE_READ_URL: z
    .string()
    .min(1)
    .optional()
    .describe('A replica to answer from. Unset: the database of DATABASE_URL.'),
  NODE_URL: z.string().min(1).describe('kaspad to ask for mempool and block templates: grpc://host:port.'),
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
    .positive()
    .default(10)
    .describe('Most connections to the database that answers are read from.'),
});

export type Env = z.infer<typeof envSchema>;
