/**
 * Cuts the chain whenever a whole generation is older than `RETENTION`, on a separate connection.
 * Only the end of a cut, a few milliseconds, takes place between two batches; until then and
 * afterwards nobody waits for it.
 */
import { type Network, toHex } from '@kasgres/kaspa';
import { FatalError, type Logger, sleep } from '@kasgres/runtime';
import type { ClientBase } from 'pg';
import type { Metrics } from '../metrics.ts';
import { completeCut, forgetContested, prepareCut } from './cut.ts';
import { catchUp } from './prepared-cut.ts';
import { type CutPoint, findCutPoint } from './cut-point.ts';
import { stageNextBootstrap } from './next-bootstrap.ts';
import { dropDetached } from './partitions.ts';
import type { Retention } from './retention.ts';

const POLL_MS = 1_000;
/** Between attempts to complete a cut, and between lines that say so. */
const RETRY_MS = 1_000;
const LINE_MS = 60_000;
/**
 * A cut that cannot be completed is prepared again, so that its transaction does not hold vacuum
 * up.
 */
const MAX_ATTEMPTS = 60;
const FAILURE_PAUSE_MS = 60_000;
/** A network mines several blocks meanwhile. */
const TURN_TIMEOUT_MS = 30_000;

export interface RetentionDependencies {
  client: ClientBase;
  network: Network;
  retention: Retention;
  log: Logger;
  metrics: Metrics;
}

type Completion = Awaited<ReturnType<typeof completeCut>>;

/** A cut that waits for the moment between two batches. */
interface PendingCut {
  complete: () => Promise<Completion>;
  done: (completion: Completion) => void;
  failed: (error: unknown) => void;
}

export class RetentionKeeper {
  readonly #dependencies: RetentionDependencies;
  #pending: PendingCut | undefined;
  #isCutting = false;

  constructor(dependencies: RetentionDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether `completeCut` has something to do. */
  get isReady(): boolean {
    return this.#pending !== undefined;
  }

  /** Whether a transaction holds locks on rows below the cut and on what refers to them. */
  get isCutting(): boolean {
    return this.#isCutting;
  }

  /**
   * Must run when no batch is being written.
   * @returns whether rows were removed, so that nothing in memory may be used any longer
   */
  async completeCut(): Promise<boolean> {
    const pending = this.#pending;
    if (pending === undefined) return false;
    this.#pending = undefined;
    const end = this.#dependencies.metrics.stageSeconds.startTimer({ stage: 'cut' });
    try {
      const completion = await pending.complete();
      end();
      pending.done(completion);
      return completion === 'cut';
    } catch (error) {
      pending.failed(error);
      throw error;
    }
  }

  /** Runs until the signal, and never throws: an index that keeps too much is better than none. */
  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#dependencies;
    while (!signal.aborted) {
      try {
        await this.#step(signal);
        await sleep(POLL_MS, signal).catch(() => undefined);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof FatalError) {
          log.error({ err: error }, 'RETENTION is not applied any longer');
          return;
        }
        log.error({ err: error, delayMs: FAILURE_PAUSE_MS }, 'could not remove old rows; retrying');
        await sleep(FAILURE_PAUSE_MS, signal).catch(() => undefined);
      }
    }
  }

  async #step(signal: AbortSignal): Promise<void> {
    const { client, network, retention, log, metrics } = this.#dependencies;
    await this.#drop();
    const cut = await findCutPoint(client, retention, network);
    if (cut === undefined) return;
    const startedAt = performance.now();
    const fields = { block: toHex(cut.hash), blueScore: cut.blueScore, generation: cut.generation };
    log.info(fields, 'removing the rows before a block: computing its UTXO set');
    let lineAt = startedAt;
    const onProgress = (chainIndex: number): void => {
      if (performance.now() - lineAt < LINE_MS) return;
      lineAt = performance.now();
      log.info({ ...fields, chainBlocksLeft: cut.chainIndex - chainIndex }, 'computing the UTXO set');
    };
    await stageNextBootstrap(client, cut, { signal, onProgress });
    if (!(await this.#cut(cut, signal))) return;
    metrics.cuts.inc();
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    log.info({ ...fields, seconds }, 'removed the rows before a block');
    await this.#drop();
    await forgetContested(client);
  }

  async #drop(): Promise<void> {
    const { client, log } = this.#dependencies;
    const tables = await dropDetached(client);
    if (tables > 0) log.info({ tables }, 'dropped detached partitions');
  }

  /** @returns false if it must be prepared again */
  async #cut(cut: CutPoint, signal: AbortSignal): Promise<boolean> {
    const { client, network, log } = this.#dependencies;
    this.#isCutting = true;
    try {
      // The batch that is being written may not know yet.
      await client.query('select from checkpoint for update');
      await client.query('begin');
      const prepared = await prepareCut(client, cut, network);
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        // Leaves little to add between two batches.
        if ((await catchUp(client, prepared)) === 'outdated') return await this.#undo();
        const completion = await this.#betweenBatches(async () => {
          const outcome = await completeCut(client, prepared);
          if (outcome !== 'busy') await client.query(outcome === 'cut' ? 'commit' : 'rollback');
          return outcome;
        }, signal);
        if (completion !== 'busy') return completion === 'cut';
        await sleep(RETRY_MS, signal);
      }
      log.warn(
        { seconds: (MAX_ATTEMPTS * RETRY_MS) / 1_000 },
        'could not detach old partitions, since long queries read them; retrying',
      );
      return await this.#undo();
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      this.#isCutting = false;
    }
  }

  async #undo(): Promise<false> {
    await this.#dependencies.client.query('rollback');
    return false;
  }

  #betweenBatches(complete: PendingCut['complete'], signal: AbortSignal): Promise<Completion> {
    const { promise, resolve, reject } = Promise.withResolvers<Completion>();
    const pending = { complete, done: resolve, failed: reject };
    this.#pending = pending;
    const giveUp = AbortSignal.any([signal, AbortSignal.timeout(TURN_TIMEOUT_MS)]);
    const abort = (): void => {
      // Once it is under way, nobody else may end its transaction: its remaining statements would
      // be committed one by one.
      if (this.#pending !== pending) return;
      this.#pending = undefined;
      reject(giveUp.reason);
    };
    giveUp.addEventListener('abort', abort, { once: true });
    return promise.finally(() => giveUp.removeEventListener('abort', abort));
  }
}
