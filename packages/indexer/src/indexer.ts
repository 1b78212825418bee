/**
 * Follows the chain from the checkpoint, and prepares each batch while the previous one is applied.
 * A failure drops all state in memory.
 */
import { describeBlocking, takeWriterLock } from '@kasgres/database';
import { NodeUnsuitableError } from '@kasgres/node';
import type { FatalError } from '@kasgres/runtime';
import { CandidateTransactions, UtxoChanges } from '@kasgres/state';
import type { ClientBase, PoolClient } from 'pg';
import { apply } from './apply/apply.ts';
import { findCheckpoint, findNetworkOfDatabase } from './apply/checkpoint.ts';
import { buildLookUpIndexes, finishFirstCatchUp, type FinishOptions } from './apply/first-catch-up.ts';
import { DEFAULT_LENGTH, Generations } from './apply/generations.ts';
import { Statistics } from './apply/statistics.ts';
import type { ChainUpdate } from './chain-update.ts';
import { disconnectLater } from './database.ts';
import type { IndexerDependencies } from './dependencies.ts';
import { findFork, getBootstrap, loadPreBootstrapBlocks, readOwnChain } from './indexed-chain.ts';
import { Memory } from './memory/memory.ts';
import type { Batch, Checkpoint } from './prepare/batch.ts';
import { AmbiguousVariants } from './prepare/ambiguous-variants.ts';
import { Preparer } from './prepare/preparer.ts';
import { Registry } from './prepare/registry.ts';
import { findPace } from './retention/cut-point.ts';
import { RetentionKeeper } from './retention/keep-retention.ts';
import { checkMergeDepth } from './retention/merge-depth.ts';
import { generationLength } from './retention/retention.ts';
import { findSources } from './source/find-sources.ts';
import { Source } from './source/source.ts';
import {
  bootstrapAfterGap,
  bootstrapAtGenesis,
  bootstrapAtPruningPoint,
  discardForNewBootstrap,
  EMPTY_CHECKPOINT,
} from './bootstrap/bootstrap.ts';
import { findGenesis } from './bootstrap/bootstrap-block.ts';
import { discardIndex, canBootstrapAgain } from './bootstrap/discard-index.ts';

/**
 * Returns after a bootstrap at a pruning point, which the next call follows.
 * @throws FatalError if a retry cannot help
 */
export async function followChain(dependencies: IndexerDependencies, signal: AbortSignal): Promise<void> {
  const clients: PoolClient[] = [];
  const lost = new AbortController();
  const untilLost = AbortSignal.any([signal, lost.signal]);
  const disconnecting = disconnectLater(clients, signal);
  const open = async (): Promise<PoolClient> => {
    const client = await dependencies.database.pool.connect();
    // A connection that is lost between queries must stop the attempt, too: the address may lead to
    // another server now.
    client.on('error', (error) => lost.abort(error));
    clients.push(client);
    return client;
  };
  try {
    const writer = await open();
    const reader = await open();
    const remover = dependencies.options.retention && (await open());
    await dependencies.sessions.succeed(remover === undefined ? [writer, reader] : [writer, reader, remover]);
    await takeWriterLock(writer, { signal: untilLost });
    await new Attempt({ ...dependencies, client: writer, reader, remover, signal: untilLost }).run();
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    disconnecting.cancel();
    // A transaction may be open, and closing the connection releases the lock.
    for (const client of clients) client.release(true);
  }
}

interface AttemptDependencies extends IndexerDependencies {
  client: ClientBase;
  reader: ClientBase;
  /** Removes old rows, if `retention` is set. */
  remover: ClientBase | undefined;
  signal: AbortSignal;
}

class Attempt {
  readonly #dependencies: AttemptDependencies;
  #applying: Promise<void> = Promise.resolve();
  #lookUpIndexesAreBuilt = false;
  readonly #statistics = new Statistics();
  #keeper: RetentionKeeper | undefined;

  constructor(dependencies: AttemptDependencies) {
    this.#dependencies = dependencies;
  }

  async run(): Promise<void> {
    const { node, network, options, metrics, reader, signal, gap } = this.#dependencies;
    await this.#checkNetwork();
    const found = await this.#findCheckpoint();
    await this.#countGaps();
    if (found !== undefined && gap !== undefined) return await this.#crossGap(found, gap);
    const genesis = found === undefined ? await findGenesis(node, network, signal) : undefined;
    if (found === undefined && genesis === undefined) {
      return await bootstrapAtPruningPoint(this.#dependencies);
    }

    const generations = await Generations.load(reader, () => this.#nextGenerationLength());
    if (options.retention !== undefined) await generations.shorten(found?.chainIndex ?? -1);
    let checkpoint = found ?? EMPTY_CHECKPOINT;
    let candidates = createCandidates(found);
    let [preparer, memory] = await this.#startPreparing(checkpoint, candidates);
    if (genesis !== undefined) {
      checkpoint = await bootstrapAtGenesis(this.#dependencies, preparer, genesis);
      this.#dependencies.notices.send();
    }
    metrics.positions.indexIsAt(checkpoint.blueScore, undefined);

    const finished = new AbortController();
    const untilFinished = AbortSignal.any([signal, finished.signal]);
    void this.#dependencies.preBootstrapTimes.learn(this.#dependencies, untilFinished);
    const keeper = this.#startRemoving(untilFinished);
    this.#keeper = keeper;
    const ownChain = readOwnChain(reader, checkpoint.chainIndex);
    const source = new Source({ node, network, ownChain, limits: options, signal });
    let requestedAt = performance.now();
    try {
      for await (const update of source.updates(checkpoint)) {
        metrics.stageSeconds.observe({ stage: 'wait' }, (performance.now() - requestedAt) / 1_000);
        const isCut = keeper?.isReady === true && (await this.#completeCut(keeper));
        const begun = generations.begin(checkpoint);
        if (isCut || begun !== undefined) {
          // Entries of the cache may not have been committed, or may be of removed rows.
          await this.#applying;
          checkpoint = begun ?? checkpoint;
          [preparer, memory] = await this.#startPreparing(checkpoint, candidates);
          if (isCut) {
            void this.#dependencies.preBootstrapTimes.learn(this.#dependencies, untilFinished);
            await this.#countGaps();
          }
        }
        if (checkpoint.firstCatchUp && !memory.isComplete) await this.#needLookUpIndexes();
        const batch = await this.#prepare(preparer, update, checkpoint);
        checkpoint = batch.to;
        await this.#applying;
        await generations.makeAhead(checkpoint.chainIndex);
        this.#startApplying(batch, update.atTip, update.added.at(-1)?.block.header.timestamp);
        if (update.atTip) {
          await this.#applying;
          if (checkpoint.firstCatchUp) {
            checkpoint = await this.#finishFirstCatchUp(checkpoint, preparer.takeCandidates());
            // Otherwise the next preparer would continue to note them.
            candidates = undefined;
          }
        }
        requestedAt = performance.now();
      }
    } finally {
      finished.abort();
      await this.#applying.catch(() => undefined);
    }
  }

  /** An empty index needs no look-ups until the cache evicts entries. */
  async #startPreparing(
    checkpoint: Checkpoint,
    candidates: CandidateTransactions | undefined,
  ): Promise<[Preparer, Memory]> {
    const { node, network, options, reader, signal } = this.#dependencies;
    const isEmpty = checkpoint.chainIndex === EMPTY_CHECKPOINT.chainIndex;
    const memory = new Memory(options.memoryTransactions, checkpoint.nextTransactionId, isEmpty);
    await loadPreBootstrapBlocks(reader, memory);
    const ambiguousVariants = new AmbiguousVariants((request) => findSources(node, request, signal));
    await ambiguousVariants.load(reader);
    const bootstrap = isEmpty ? undefined : await getBootstrap(reader);
    const bootstrapBlueScore = bootstrap?.isGenesis === false ? bootstrap.blueScore : undefined;
    const registry = new Registry(memory, network, checkpoint, bootstrapBlueScore);
    return [new Preparer(registry, ambiguousVariants, candidates), memory];
  }

  #startRemoving(signal: AbortSignal): RetentionKeeper | undefined {
    const { remover, network, options, log, metrics } = this.#dependencies;
    if (remover === undefined || options.retention === undefined) return undefined;
    const keeper = new RetentionKeeper({ client: remover, network, retention: options.retention, log, metrics });
    void keeper.run(signal);
    return keeper;
  }

  async #nextGenerationLength(): Promise<bigint> {
    const { reader, network, options } = this.#dependencies;
    if (options.retention === undefined) return DEFAULT_LENGTH;
    return generationLength(options.retention, network, await findPace(reader));
  }

  async #crossGap(checkpoint: Checkpoint, gap: FatalError): Promise<void> {
    const { client, options, log } = this.#dependencies;
    if (await canBootstrapAgain(client)) return await discardForNewBootstrap(this.#dependencies, checkpoint);
    if (options.onGap === 'stop') throw gap;
    log.warn({ err: gap }, 'checkpoint pruned on every node; restarting from the pruning point');
    await bootstrapAfterGap(this.#dependencies, checkpoint);
  }

  async #checkNetwork(): Promise<void> {
    const { client, network } = this.#dependencies;
    const known = await findNetworkOfDatabase(client);
    if (known !== undefined && known !== network.id) {
      throw new NodeUnsuitableError(
        'wrong-network',
        `This database holds ${known}, but the node is on ${network.id}. Point NODE_URL at a node of ${known}, or DATABASE_URL at another database.`,
      );
    }
  }

  async #findCheckpoint(): Promise<Checkpoint | undefined> {
    const { client, node, network, log, signal } = this.#dependencies;
    const found = await findCheckpoint(client);
    if (found?.chainIndex !== 0 || Buffer.compare(found.hash, network.genesisHash) !== 0) return found;
    if ((await findGenesis(node, network, signal)) !== undefined) return found;
    // A new node has only genesis for some minutes, before it downloads a pruned chain.
    await discardIndex(client);
    log.info('discarded an index of genesis alone, since the node has pruned the chain');
    return undefined;
  }

  /** @returns whether it was made */
  async #completeCut(keeper: RetentionKeeper): Promise<boolean> {
    await this.#applying;
    return await keeper.completeCut();
  }

  async #countGaps(): Promise<void> {
    const { reader, metrics } = this.#dependencies;
    const { rows } = await reader.query<{ gaps: number; last: number }>(
      'select count(*)::integer as gaps, coalesce(extract(epoch from max(recorded_at)), 0)::float8 as last from gaps',
    );
    for (const row of rows) {
      metrics.gaps.set(row.gaps);
      metrics.lastGap.set(row.last);
    }
  }

  async #prepare(preparer: Preparer, update: ChainUpdate, from: Checkpoint): Promise<Batch> {
    const { reader, network, options, metrics, progress } = this.#dependencies;
    if (options.retention !== undefined) checkMergeDepth(update.added, network.finalityDepth);
    // A reorg is prepared from the database, which must have the previous batch.
    if (update.removed.length > 0) await this.#applying;
    const fork = update.removed.length === 0 ? from : await findFork(reader, from, update.removed.length);
    const end = metrics.stageSeconds.startTimer({ stage: 'prepare' });
    const batch = await preparer.prepare(reader, update, from, fork);
    end();
    if (!update.atTip) batch.secondsLeft = progress.secondsLeft(batch.to.blueScore, batch.targetBlueScore);
    return batch;
  }

  /**
   * @param timestamp of the last chain block; passed alone so that the update is freed while its
   * rows are applied
   */
  #startApplying(batch: Batch, atTip: boolean, timestamp: bigint | undefined): void {
    const { client, metrics, progress, log, notices } = this.#dependencies;
    const run = async (): Promise<void> => {
      const end = metrics.stageSeconds.startTimer({ stage: 'apply' });
      await apply(client, batch, () => this.#keeper?.isCutting === true);
      notices.send();
      end();
      metrics.batches.inc();
      metrics.positions.indexIsAt(batch.to.blueScore, timestamp);
      // Far from the tip the target is as old as the pages, and the node watch is more recent.
      if (atTip) metrics.positions.nodeIsAt(batch.targetBlueScore);
      for (const rows of Object.values(batch.rows)) metrics.rows.inc({ table: rows.table }, rows.rows);
      if (batch.state !== undefined) metrics.rows.inc({ table: 'utxos' }, batch.state.of(UtxoChanges).created.length);
      if (batch.removed.length > 0) {
        metrics.reorgs.inc();
        metrics.reorgDepth.observe(batch.removed.length);
        log.info({ depth: batch.removed.length, blueScore: batch.to.blueScore }, 'followed a reorg');
      }
      progress.applied(batch, atTip);
      if (!batch.to.firstCatchUp) void this.#updateStatistics(batch);
    };
    this.#applying = run();
    // The rejection is handled where `#applying` is awaited.
    this.#applying.catch(() => undefined);
  }

  /** Nothing waits for it. */
  async #updateStatistics(batch: Batch): Promise<void> {
    const { database, log, signal } = this.#dependencies;
    try {
      await this.#statistics.update(database.pool, batch);
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'could not analyse the tables; retrying with the next batch');
    }
  }

  async #needLookUpIndexes(): Promise<void> {
    if (this.#lookUpIndexesAreBuilt) return;
    await this.#applying;
    await buildLookUpIndexes(this.#dependencies.client);
    this.#lookUpIndexesAreBuilt = true;
  }

  async #finishFirstCatchUp(checkpoint: Checkpoint, candidates?: CandidateTransactions): Promise<Checkpoint> {
    const { client, reader, log, metrics, signal } = this.#dependencies;
    log.info({ blueScore: checkpoint.blueScore }, 'caught up with the node; building indexes and balances');
    const end = metrics.stageSeconds.startTimer({ stage: 'finish' });
    const onBlocked: FinishOptions['onBlocked'] = (blocking) =>
      log.warn({ sessions: describeBlocking(blocking) }, 'waiting for readers of the tables of balances');
    await finishFirstCatchUp([client, reader], { candidates, onBlocked, signal });
    this.#dependencies.notices.send();
    log.info({ durationMs: Math.round(end() * 1_000) }, 'finished the first catch-up');
    return { ...checkpoint, firstCatchUp: false };
  }
}

/**
 * Returns none unless the attempt sees the whole first catch-up, from genesis or from the UTXO set
 * of a bootstrap.
 */
function createCandidates(found: Checkpoint | undefined): CandidateTransactions | undefined {
  if (found === undefined) return new CandidateTransactions(false);
  return found.firstCatchUp && found.chainIndex === 0 ? new CandidateTransactions(true) : undefined;
}
