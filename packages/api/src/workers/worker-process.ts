/** One worker as the primary process sees it. */
import cluster, { type Address, type Worker } from 'node:cluster';
import type { Logger, Metrics, Readiness } from '@kasgres/runtime';
import type { ToPrimary, Topic, ToWorker } from './messages.ts';
import { withNaN } from './sum-metrics.ts';

const REPLY_TIMEOUT_MS = 2000;
/** A worker gives up closing before (worker.ts). */
const KILL_AFTER_MS = 23_000;

export interface WorkerEnd {
  code: number | null;
  signal: string | null;
}

export class WorkerProcess {
  readonly id: number;
  readonly listening: Promise<Address>;
  readonly ended: Promise<WorkerEnd>;
  isListening = false;
  /** As they were read last. */
  metrics: Metrics = [];
  readonly #worker: Worker;
  readonly #pending = new Map<number, (value: unknown) => void>();
  #lastId = 0;

  /**
   * @param onFatal receives the message of a FatalError, after which the worker waits for its end
   */
  constructor(logger: Logger, onFatal: (message: string) => void) {
    const worker = cluster.fork();
    this.#worker = worker;
    this.id = worker.id;
    this.listening = new Promise((resolve) => {
      worker.once('listening', (address: Address) => {
        this.isListening = true;
        resolve(address);
      });
    });
    const { promise, resolve } = Promise.withResolvers<WorkerEnd>();
    this.ended = promise;
    const end = (code: number | null, signal: string | null): void => {
      this.isListening = false;
      for (const settle of this.#pending.values()) settle(undefined);
      resolve({ code, signal });
    };
    worker.on('exit', end);
    worker.on('error', (error) => {
      logger.warn({ worker: worker.id, reason: error.message }, 'could not reach worker');
      // It has no process, so there will be no exit.
      if (worker.process.pid === undefined) end(null, null);
    });
    worker.on('message', ({ got, fatal }: ToPrimary) => {
      if (got !== undefined) this.#pending.get(got.id)?.(got.value);
      if (fatal !== undefined) onFatal(fatal);
    });
  }

  async readMetrics(): Promise<Metrics> {
    const metrics = (await this.#get('metrics')) as Metrics | undefined;
    if (metrics !== undefined) this.metrics = withNaN(metrics);
    return this.metrics;
  }

  async findReadiness(): Promise<Readiness> {
    const readiness = (await this.#get('ready')) as Readiness | undefined;
    return readiness ?? { ready: false, reason: `worker ${this.id} does not respond` };
  }

  /** Lets it finish its responses. */
  async stop(): Promise<void> {
    this.#worker.process.kill('SIGTERM');
    const timer = setTimeout(() => this.#worker.process.kill('SIGKILL'), KILL_AFTER_MS);
    await this.ended;
    clearTimeout(timer);
  }

  /** Resolves to undefined if there is no reply in time. */
  #get(topic: Topic): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const settle = (value: unknown): void => {
      clearTimeout(timer);
      this.#pending.delete(id);
      resolve(value);
    };
    const timer = setTimeout(() => settle(undefined), REPLY_TIMEOUT_MS);
    this.#pending.set(id, settle);
    this.#send({ get: { id, topic } });
    return promise;
  }

  #send(message: ToWorker): void {
    // The callback keeps a failure, after which the worker ends, from being an 'error' event.
    if (this.#worker.isConnected()) this.#worker.send(message, () => undefined);
  }
}
