/**
 * The API as a process, or as a primary process with several workers: serves HTTP until it is
 * stopped.
 */
import cluster from 'node:cluster';
import {
  createLogger,
  createRegistry,
  type Logger,
  type Program,
  readEnv,
  runProgram,
  startProbes,
  untilAborted,
} from '@kasgres/runtime';
import { type Env, envSchema } from './env.ts';
import { serve } from './serve.ts';
import { Workers } from './workers/primary.ts';
import { lowerPriority } from './workers/priority.ts';
import { runWorker, WORKER_DEADLINE_MS } from './workers/worker.ts';

lowerPriority();
if (cluster.isWorker)
  await runProgram('api', (program) => runWorker(program, prepare), { deadlineMs: WORKER_DEADLINE_MS });
else await runProgram('api', run);

function prepare(): { env: Env; logger: Logger } {
  const env = readEnv(envSchema, process.env);
  return { env, logger: createLogger({ name: 'api', level: env.LOG_LEVEL }) };
}

async function run(program: Program): Promise<void> {
  const { env, logger } = prepare();
  const { signal, shutdown } = program;
  program.useLogger(logger);
  const registry = createRegistry('api');
  const probes = { host: env.METRICS_HOST, port: env.METRICS_PORT, logger, signal };
  if (env.API_WORKERS === 1) {
    await serve({
      program,
      env,
      logger,
      registry,
      onServer: async (ready) => {
        const { close } = await startProbes({ ...probes, registry, ready });
        // Closed after the server, so that readiness is served until the last response has been
        // sent.
        shutdown.add('probes', close);
      },
    });
    return;
  }
  const workers = new Workers({ count: env.API_WORKERS, logger, stop: program.stop });
  const { close } = await startProbes({
    ...probes,
    registry: { contentType: registry.contentType, metrics: () => workers.readMetrics(registry) },
    ready: () => workers.findReadiness(),
  });
  shutdown.add('probes', close);
  shutdown.add('workers', () => workers.close());
  const { address, port } = await workers.start();
  const scheme = env.TLS_CERT_FILE === undefined ? 'http' : 'https';
  const host = address.includes(':') ? `[${address}]` : address;
  logger.info({ workers: env.API_WORKERS }, `Server listening at ${scheme}://${host}:${port}`);
  await untilAborted(signal);
}
