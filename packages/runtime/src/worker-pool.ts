/**
 * Runs a function on worker threads. Unlike the pools that npm has, this one never terminates a thread: terminating one that is
 * starting or working can hang or fail, and a program that stops in the middle of its work does exactly that. A thread is told that
 * nothing more will come, finishes the job that it has, and ends by itself.
 */
import { parentPort, type Transferable, Worker } from 'node:worker_threads';

/** To a thread: a job, or undefined when there will be no more. */
type Request<Job> = { job: Job } | undefined;
/** From a thread, once for each job. */
type Response<Result> = { result: Result } | { error: unknown };

interface Waiting<Job, Result> {
  job: Job;
  transfer: readonly Transferable[];
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

interface Thread<Job, Result> {
  worker: Worker;
  exited: Promise<void>;
  /** The job that it works on. */
  current: Waiting<Job, Result> | undefined;
}

export class WorkerPool<Job, Result> {
  readonly #file: URL;
  readonly #size: number;
  readonly #threads = new Set<Thread<Job, Result>>();
  readonly #queue: Waiting<Job, Result>[] = [];
  #isClosed = false;

  /**
   * @param file a module that calls `serveJobs`
   * @param size how many threads there are at most; each starts when a job finds no idle one
   */
  constructor(file: URL, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /**
   * Returns the result of a job on one of the threads. Jobs start in the order in which they were added.
   * @throws what the job threw; Error if its thread ended or the pool was closed before the job had a result
   */
  run(job: Job, transfer: readonly Transferable[] = []): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new Error('the worker pool is closed'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, transfer, resolve, reject });
      this.#assignJobs();
    });
  }

  /** Rejects the jobs that have not started, and waits until those that have started are finished and every thread has ended. */
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
      const next = this.#queue.shift() as Waiting<Job, Result>;
      thread.current = next;
      try {
        thread.worker.postMessage({ job: next.job } satisfies Request<Job>, next.transfer);
      } catch (error) {
        // The job cannot be cloned; the thread has not seen it.
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
      settle({ error: failure ?? new Error(`a worker thread ended with exit code ${code}`) });
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
