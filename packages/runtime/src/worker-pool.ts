/**
 * Runs a function on worker threads. Unlike the pools on npm, this one never terminates a thread:
 * terminating one that is starting or working can hang or fail, and a program that stops during a
 * load does exactly that. On close a thread is told that no more jobs will come, finishes its
 * current job and exits.
 */
import { parentPort, type Transferable, Worker } from 'node:worker_threads';

/** The message to a thread: a job, or undefined when there will be no more. */
type Request<Job> = { job: Job } | undefined;
/** The message from a thread, one per job. */
type Response<Result> = { result: Result } | { error: unknown };

interface PendingJob<Job, Result> {
  job: Job;
  transfer: readonly Transferable[];
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

interface Thread<Job, Result> {
  worker: Worker;
  exited: Promise<void>;
  current: PendingJob<Job, Result> | undefined;
}

export class WorkerPool<Job, Result> {
  readonly #file: URL;
  readonly #size: number;
  readonly #threads = new Set<Thread<Job, Result>>();
  readonly #queue: PendingJob<Job, Result>[] = [];
  #isClosed = false;

  /**
   * @param file a module that calls `serveJobs`
   * @param size the maximum number of threads; a thread starts when a job finds none idle
   */
  constructor(file: URL, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /**
   * Runs a job on one of the threads and returns its result. Jobs start in the order in which they
   * were added.
   * @throws the job's error; Error if its thread exited or the pool was closed before the job had a
   * result
   */
  run(job: Job, transfer: readonly Transferable[] = []): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new Error('the worker pool is closed'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, transfer, resolve, reject });
      this.#assignJobs();
    });
  }

  /**
   * Rejects the jobs that have not started, and waits until the others are finished and every
   * thread has exited.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#queue.splice(0)) reject(new Error('the worker pool was closed'));
    const exits = [...this.#threads].map(({ worker, exited }) => {
      worker.postMessage(undefined satisfies Request<Job>, []);
      return exited;
    });
    await Promise.all(exits);
  }

  #assignJobs(): void {
    while (this.#queue.length > 0) {
      const thread = this.#findIdleThread();
      if (thread === undefined) return;
      const next = this.#queue.shift() as PendingJob<Job, Result>;
      thread.current = next;
      try {
        thread.worker.postMessage({ job: next.job } satisfies Request<Job>, next.transfer);
      } catch (error) {
        // The job cannot be cloned, so the thread has not received it.
        thread.current = undefined;
        next.reject(error);
      }
    }
  }

  #findIdleThread(): Thread<Job, Result> | undefined {
    for (const thread of this.#threads) if (thread.current === undefined) return thread;
    return this.#threads.size < this.#size ? this.#startThread() : undefined;
  }

  #startThread(): Thread<Job, Result> {
    const worker = new Worker(this.#file);
    const { promise: exited, resolve: exit } = Promise.withResolvers<void>();
    const thread: Thread<Job, Result> = { worker, exited, current: undefined };
    const settle = (response: Response<Result>): void => {
      const done = thread.current;
      thread.current = undefined;
      if ('error' in response) done?.reject(response.error);
      else done?.resolve(response.result);
      this.#assignJobs();
    };
    let failure: unknown;
    worker.on('message', settle);
    // An error outside of a job, for example a module that cannot be loaded, ends the thread.
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', (code) => {
      this.#threads.delete(thread);
      settle({ error: failure ?? new Error(`a worker thread exited with code ${code}`) });
      exit();
    });
    this.#threads.add(thread);
    return thread;
  }
}

/** Makes this thread work for a `WorkerPool`. */
export function serveJobs(work: (job: never) => unknown): void {
  const port = parentPort;
  if (port === null) throw new Error('serveJobs must be called on a worker thread');
  port.on('message', (request: Request<never>) => {
    if (request === undefined) {
      port.close();
      return;
    }
    let response: Response<unknown>;
    try {
      response = { result: work(request.job) };
    } catch (error) {
      response = { error };
    }
    port.postMessage(response);
  });
}
