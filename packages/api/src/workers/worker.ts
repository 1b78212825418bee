/** A worker: serves the port like a single process, and leaves probes to the primary process. */
import cluster from 'node:cluster';
import { createRegistry, FatalError, type Logger, type Program, type Readiness, untilAborted } from '@kasgres/runtime';
import type { Env } from '../env.ts';
import { serve } from '../serve.ts';
import type { ToPrimary, ToWorker } from './messages.ts';

/** Less than that of the primary process, which waits for its workers. */
export const WORKER_DEADLINE_MS = 22_000;

export async function runWorker(program: Program, readEnv: () => { env: Env; logger: Logger }): Promise<void> {
  try {
    const { env, logger: common } = readEnv();
    const logger = common.child({ worker: cluster.worker?.id });
    program.useLogger(logger);
    const registry = createRegistry('api');
    let ready = notListening;
    process.on('message', ({ get }: ToWorker) => {
      const value = get.topic === 'metrics' ? registry.getMetricsAsJSON() : ready().catch(toUnready);
      void value.then((value: unknown) => send({ got: { id: get.id, value } }));
    });
    await serve({ program, env, logger, registry, onServer: (given) => void (ready = given) });
  } catch (error) {
    if (!(error instanceof FatalError)) throw error;
    // The primary process reports it once for all workers, and ends them.
    send({ fatal: error.message });
    await untilAborted(program.signal);
  }
}

/**
 * Without the primary process, this one ends at once (node:cluster), since it would get no
 * connections.
 */
function send(message: ToPrimary): void {
  process.send?.(message, undefined, undefined, () => undefined);
}

const notListening = async (): Promise<Readiness> => ({ ready: false, reason: 'not listening yet' });

const toUnready = (error: unknown): Readiness => ({
  ready: false,
  reason: error instanceof Error ? error.message : String(error),
});
