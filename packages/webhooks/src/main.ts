/** `kasgres webhooks` as a process: delivers until it is stopped. */
import { checkLogin, checkSchema, type Connection, isDatabaseUnavailable } from '@kasgres/database';
import { IndexReader, openDatabase } from '@kasgres/reads';
import {
  createLogger,
  createRegistry,
  type Logger,
  type Program,
  readEnv,
  retry,
  runProgram,
  startProbes,
} from '@kasgres/runtime';
import { Deliverer } from './deliverer.ts';
import { webhooksEnvSchema } from './env.ts';
import { whileLeading } from './leader.ts';
import { watchWebhooks } from './metrics.ts';
import { WebhookQueue } from './queue.ts';
import { secretBoxOpener } from './secrets.ts';

const CONNECTIONS = 8;
const MAX_OVERDUE_MS = 60_000;

await runProgram('webhooks', run);

async function run({ signal, shutdown, useLogger }: Program): Promise<void> {
  const env = readEnv(webhooksEnvSchema, process.env);
  const logger = createLogger({ name: 'webhooks', level: env.LOG_LEVEL });
  useLogger(logger);
  const registry = createRegistry('webhooks');
  const database = openDatabase({
    url: env.DATABASE_URL,
    max: CONNECTIONS,
    onIdleError: (error) => logger.warn({ reason: error.message }, 'lost a database connection'),
  });
  shutdown.add('database', database.close);
  const queue = new WebhookQueue(database.kysely);
  const deliverer = new Deliverer({
    index: new IndexReader(database),
    queue,
    openSecrets: secretBoxOpener({ secretKey: env.WEBHOOK_SECRET_KEY, dataDir: env.DATA_DIR }),
    allowed: env.WEBHOOK_ALLOW ?? [],
    logger,
    onOutcome: (outcome) => onOutcome(outcome),
  });
  const onOutcome = watchWebhooks(registry, queue, () => deliverer.overdueMs);
  const { close } = await startProbes({
    host: env.METRICS_HOST,
    port: env.METRICS_PORT,
    registry,
    logger,
    ready: async () => {
      await queue.count();
      const { overdueMs } = deliverer;
      if (overdueMs < MAX_OVERDUE_MS) return { ready: true };
      return { ready: false, reason: `deliveries have been overdue for ${Math.round(overdueMs / 1000)} seconds` };
    },
  });
  shutdown.add('probes', close);
  await checkLogin(database.pool);
  await untilMigrated(database, logger, signal);
  await whileLeading({
    databaseUrl: env.DATABASE_URL,
    logger,
    signal,
    work: (either) => deliverer.run(either),
    onNotification: () => deliverer.wake(),
  });
}

/** Waits for a database that is out of reach. @throws FatalError for a schema of another version */
async function untilMigrated({ pool }: Connection, logger: Logger, signal: AbortSignal): Promise<void> {
  await retry(() => checkSchema(pool), {
    signal,
    onFailure: (error, pauseMs) => {
      if (!isDatabaseUnavailable(error)) throw error;
      logger.warn({ reason: (error as Error).message, pauseMs }, 'could not check the database, retrying');
    },
  });
}
