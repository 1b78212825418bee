/**
 * The primary process of several workers: it starts and restarts them, and serves their metrics and
 * probes as one.
 */
import { backoff, FatalError, type Logger, type Metrics, type Readiness, type Registry, sleep } from '@kasgres/runtime';
import { addEnded, sumMetrics } from './sum-metrics.ts';
import { WorkerProcess } from './worker-process.ts';

const RESTART_PAUSES = { firstMs: 200, maxMs: 10_000 };
/** A worker that ran this long is restarted as quickly as the first time. */
const STABLE_AFTER_MS = 60_000;

interface WorkersOptions {
  count: number;
  logger: Logger;
  /** Ends the program. */
  stop: (error: unknown) => void;
}

export class Workers {
  readonly #options: WorkersOptions;
  readonly #running = new Set<WorkerProcess>();
  readonly #closing = new AbortController();
  /** The counts of ended workers. */
  #ended: Promise<Metrics> = Promise.resolve([]);

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /**
   * Starts the others once the first one is listening, so that a problem with the port is reported
   * once. Returns the address.
   * @throws Error if the first one ends before
   */
  async start(): Promise<{ address: string; port: number }> {
    const { count } = this.#options;
    const first = this.#fork({ isRestart: false });
    const started = await Promise.race([first.listening, first.ended]);
    if (!('port' in started)) throw new Error(`the first worker ended before it listened (exit code ${started.code})`);
    void this.#keepRunning(first);
    for (let others = 1; others < count; others += 1) void this.#keepRunning(this.#fork({ isRestart: false }));
    return started;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#running].map((worker) => worker.stop()));
  }

  async readMetrics(registry: Registry): Promise<string> {
    const workers = [...this.#running].map((worker) => worker.readMetrics());
    // Read before anything else ends, so that no worker counts twice.
    const ended = this.#ended;
    return sumMetrics(await Promise.all([...workers, registry.getMetricsAsJSON(), ended]));
  }

  /**
   * Ready if at least one worker is listening and all that are listening can respond. A worker that
   * is being restarted receives no requests.
   */
  async findReadiness(): Promise<Readiness> {
    const listening = [...this.#running].filter(({ isListening }) => isListening);
    if (listening.length === 0) return { ready: false, reason: 'not listening yet' };
    const states = await Promise.all(listening.map((worker) => worker.findReadiness()));
    return states.find(({ ready }) => !ready) ?? { ready: true };
  }

  async #keepRunning(first: WorkerProcess): Promise<void> {
    const { signal } = this.#closing;
    let pauses = backoff(RESTART_PAUSES);
    for (let worker = first; ; worker = this.#fork({ isRestart: true })) {
      const startedAt = performance.now();
      const { code, signal: killedBy } = await worker.ended;
      if (signal.aborted) return;
      if (performance.now() - startedAt > STABLE_AFTER_MS) pauses = backoff(RESTART_PAUSES);
      const pauseMs = pauses.next().value;
      this.#options.logger.error({ worker: worker.id, code, killedBy, pauseMs }, 'worker ended, restarting it');
      await sleep(pauseMs, signal).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  async #countEnd(worker: WorkerProcess): Promise<void> {
    await worker.ended;
    this.#running.delete(worker);
    this.#ended = this.#ended.then((earlier) => addEnded(earlier, worker.metrics));
  }

  #fork({ isRestart }: { isRestart: boolean }): WorkerProcess {
    const { logger, stop } = this.#options;
    const worker: WorkerProcess = new WorkerProcess(logger, (message) => {
      if (!isRestart) stop(new FatalError(message));
      // The configuration has changed since the program started: the other workers continue.
      else logger.error({ worker: worker.id, reason: message }, 'worker cannot start');
      // `start` may wait for it.
      void worker.stop();
    });
    this.#running.add(worker);
    void this.#countEnd(worker);
    if (isRestart) logger.info({ worker: worker.id }, 'restarted worker');
    return worker;
  }
}
