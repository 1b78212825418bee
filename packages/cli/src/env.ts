/** The environment of the `kasgres` command. The programs that it starts read their own. */
import { parseNodeUrls } from '@kasgres/node';
import { LOG_LEVELS, parsed, postgresUrl, readEnv } from '@kasgres/runtime';
import { z } from 'zod';

export const cliEnvSchema = z.object({
  NODE_URL: parsed((list) => parseNodeUrls(list).join())
    .optional()
    .describe(
      'gRPC address of the node, such as `grpc://127.0.0.1:16110`, or of several, separated by commas. Unset: `start` runs a simulated node',
    ),
  DATABASE_URL: postgresUrl()
    .optional()
    .describe('Address of Postgres 15 or newer. Unset: `start` runs an embedded one'),
  HOST: z.string().default('127.0.0.1').describe('Address where the API listens'),
  PORT: z.coerce.number().int().min(1).max(65_535).default(3000).describe('Port where the API listens'),
  METRICS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_534)
    .default(0)
    .describe(
      'Port of the metrics and probes of the API; `start` gives the indexer the next one. 0: both choose a free one and log it',
    ),
  DATA_DIR: z
    .string()
    .default('./data')
    .describe('Where `start` keeps embedded Postgres, the simulated chain, the demo key and logs'),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('Least important log lines to write'),
});

export type CliEnv = z.infer<typeof cliEnvSchema>;

export function readCliEnv(): CliEnv {
  return readEnv(cliEnvSchema, process.env);
}
