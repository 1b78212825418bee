/**
 * The loop: from the checkpoint, take updates from the source, prepare each while the one before is being applied, and after
 * any failure begin again at the checkpoint. Nothing but the database remembers where we are.
 */
import { type Connection, describeBlocking, takeWriterLock } from '@kasgres/database';
import type { Network } from '@kasgres/kaspa';
import { type NodeClient, NodeUnsuitableError } from '@kasgres/node';
import type { FatalError, Logger } from '@kasgres/runtime';
import { UtxoChanges } from '@kasgres/state';
import type { ClientBase, PoolClient } from 'pg';
import { apply } from './apply/apply.ts';
import { findCheckpoint, findNetworkOfDatabase } from './apply/checkpoint.ts';
import { buildLookUpIndexes, finishFirstCatchUp } from './apply/first-catch-up.ts';
import type { Sessions } from './apply/sessions.ts';
import type { ChainUpdate } from './chain-update.ts';
import type { EarlierTimes } from './earlier-times.ts';
import { Memory } from './memory/memory.ts';
import type { Metrics } from './metrics.ts';
import type { Batch, Checkpoint } from './prepare/batch.ts';
import { AmbiguousVariants } from './prepare/ambiguous-variants.ts';
import { findFork, getBootstrap, loadPreBootstrapBlocks } from './prepare/look-ups.ts';
import { Preparer } from './prepare/preparer.ts';
import type { Progress } from './progress.ts';
import { findSources } from './source/find-sources.ts';
import { readOwnChain } from './source/own-chain.ts';
import { Source, type SourceLimits } from './source/source.ts';
import {
  beginAgain,
  beginAtGenesis,
  beginAtPruningPoint,
  type BeginParts,
  discardNewborn,
  NOTHING,
} from './start/begin.ts';
import { findGenesis } from './start/first-block.ts';
import { discardIndex, isNewborn } from './start/newborn.ts';
import { type BootstrapTiming, bootstrapTiming } from './start/timing.ts';

export interface IndexerOptions extends SourceLimits {
  memoryTransactions: number;
  /** The p2p address of a node that hands out its UTXO set; default: the node that is followed, at its network's port. */
  p2pUrl: string | undefined;
  /** What to do when no node has any more what comes after the checkpoint. */
  onGap: 'stop' | 'record';
  /** Of a network whose parameters were overridden; default: those of the network, and no RPC tells them. */
  finalityDepth?: bigint | undefined;
  pruningDepth?: bigint | undefined;
  /** Default: by the depths of the network. */
  bootstrapTiming?: BootstrapTiming;
}

export interface IndexerParts {
  node: NodeClient;
  database: Connection;
  network: Network;
  options: IndexerOptions;
  log: Logger;
  progress: Progress;
  metrics: Metrics;
  sessions: Sessions;
  earlierTimes: EarlierTimes;
  /** The p2p address of a node. */
  p2pUrl: string;
  /** Set where no node has what comes after the checkpoint: what ends the program, unless the index may begin again at a pruning point. */
  gap: FatalError | undefined;
}

/**
 * Follows the chain from the checkpoint until the signal, or until something fails. Returns when an index began, or began again, at
 * a pruning point: it is followed from there.
 * @throws FatalError when beginning again cannot help
 */
export async function followChain(parts: IndexerParts, signal: AbortSignal): Promise<void> {
  const clients: PoolClient[] = [];
  const lost = new AbortController();
  const untilLost = AbortSignal.any([signal, lost.signal]);
  const open = async (): Promise<PoolClient> => {
    const client = await parts.database.pool.connect();
    // Also while nothing is asked: the address may lead to another server by now.
    client.on('error', (error) => lost.abort(error));
    clients.push(client);
    return client;
  };
  try {
    const writer = await open();
    const reader = await open();
    await parts.sessions.succeed([writer, reader]);
    await takeWriterLock(writer, { signal: untilLost });
    await new Attempt(parts, writer, reader, untilLost).run();
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    // Closed, not reused: a transaction may be open, and the lock goes with the connection.
    for (const client of clients) client.release(true);
  }
}

/** One run from the checkpoint to the next failure. */
class Attempt {
  readonly #parts: IndexerParts;
  readonly #writer: ClientBase;
  readonly #reader: ClientBase;
  readonly #signal: AbortSignal;
  /** The apply that is under way. */
  #applying: Promise<void> = Promise.resolve();
  #lookUpIndexesAreBuilt = false;

  constructor(parts: IndexerParts, writer: ClientBase, reader: ClientBase, signal: AbortSignal) {
    this.#parts = parts;
    this.#writer = writer;
    this.#reader = reader;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { node, network, options, metrics } = this.#parts;
    await this.#checkNetwork();
    const found = await this.#findCheckpoint();
    await this.#countGaps();
    if (found !== undefined && this.#parts.gap !== undefined) return await this.#crossGap(found, this.#parts.gap);
    const genesis = found === undefined ? await findGenesis(node, network, this.#signal) : undefined;
    if (found === undefined && genesis === undefined) {
      return await beginAtPruningPoint(this.#beginParts(), this.#signal);
    }

    let checkpoint = found ?? NOTHING;
    const memory = new Memory(limitsOf(options), checkpoint.nextTransactionId, found === undefined);
    await loadPreBootstrapBlocks(this.#reader, memory);
    const ambiguousVariants = new AmbiguousVariants((request) => findSources(node, request, this.#signal));
    await ambiguousVariants.load(this.#reader);
    const bootstrap = found === undefined ? undefined : await getBootstrap(this.#reader);
    const bootstrapBlueScore = bootstrap?.isGenesis === false ? bootstrap.blueScore : undefined;
    const preparer = new Preparer(memory, network, ambiguousVariants, checkpoint, bootstrapBlueScore);
    if (genesis !== undefined) checkpoint = await beginAtGenesis(this.#beginParts(), preparer, genesis);
    metrics.positions.indexIsAt(checkpoint.blueScore, undefined);

    const ended = new AbortController();
    void this.#parts.earlierTimes.learn(this.#parts, AbortSignal.any([this.#signal, ended.signal]));
    const source = new Source(node, network, readOwnChain(this.#reader, checkpoint.chainIndex), options);
    let asked = performance.now();
    try {
      for await (const update of source.updates(checkpoint, this.#signal)) {
        metrics.stageSeconds.observe({ stage: 'wait' }, (performance.now() - asked) / 1_000);
        if (checkpoint.firstCatchUp && !memory.knowsEverything) await this.#needLookUpIndexes();
        const batch = await this.#prepare(preparer, update, checkpoint);
        checkpoint = batch.to;
        await this.#applying;
        this.#startApplying(batch, update.atTip, update.added.at(-1)?.block.header.timestamp);
        if (update.atTip) {
          await this.#applying;
          if (checkpoint.firstCatchUp) checkpoint = await this.#finishFirstCatchUp(checkpoint);
        }
        asked = performance.now();
      }
    } finally {
      ended.abort();
      await this.#applying.catch(() => undefined);
    }
  }

  /** @throws the gap where neither the index is newborn nor the operator asked for a record */
  async #crossGap(checkpoint: Checkpoint, gap: FatalError): Promise<void> {
    const { options, log } = this.#parts;
    if (await isNewborn(this.#writer)) return await discardNewborn(this.#beginParts(), checkpoint, this.#signal);
    if (options.onGap === 'stop') throw gap;
    log.warn({ err: gap }, 'no node has what comes after the checkpoint; begins again at the pruning point');
    await beginAgain(this.#beginParts(), checkpoint, this.#signal);
  }

  async #checkNetwork(): Promise<void> {
    const { network } = this.#parts;
    const known = await findNetworkOfDatabase(this.#writer);
    if (known !== undefined && known !== network.id) {
      throw new NodeUnsuitableError(
        'wrong-network',
        `This database holds ${known}, but the node is on ${network.id}. Point NODE_URL at a node of ${known}, or DATABASE_URL at another database.`,
      );
    }
  }

  /** None where nothing but genesis is indexed and the node has pruned the chain since. */
  async #findCheckpoint(): Promise<Checkpoint | undefined> {
    const { node, network, log } = this.#parts;
    const found = await findCheckpoint(this.#writer);
    if (found?.chainIndex !== 0 || Buffer.compare(found.hash, network.genesisHash) !== 0) return found;
    if ((await findGenesis(node, network, this.#signal)) !== undefined) return found;
    // A new node has nothing but genesis for minutes, and then takes over a chain that is pruned.
    await discardIndex(this.#writer);
    log.info('the node has a pruned chain by now, and nothing but genesis was indexed: begins anew');
    return undefined;
  }

  async #countGaps(): Promise<void> {
    const { gaps, lastGap } = this.#parts.metrics;
    const { rows } = await this.#reader.query<{ gaps: number; last: number }>(
      'select count(*)::integer as gaps, coalesce(extract(epoch from max(recorded_at)), 0)::float8 as last from gaps',
    );
    for (const row of rows) {
      gaps.set(row.gaps);
      lastGap.set(row.last);
    }
  }

  #beginParts(): BeginParts {
    const { options, network } = this.#parts;
    return {
      ...this.#parts,
      client: this.#writer,
      timing: options.bootstrapTiming ?? bootstrapTiming(network),
      createMemory: ({ nextTransactionId }) => new Memory(limitsOf(options), nextTransactionId, false),
    };
  }

  async #prepare(preparer: Preparer, update: ChainUpdate, from: Checkpoint): Promise<Batch> {
    const { metrics, progress } = this.#parts;
    // A reorg is prepared from what the database holds, so everything before it must be there.
    if (update.removed.length > 0) await this.#applying;
    const fork = update.removed.length === 0 ? from : await findFork(this.#reader, from, update.removed.length);
    const end = metrics.stageSeconds.startTimer({ stage: 'prepare' });
    const batch = await preparer.prepare(this.#reader, update, from, fork);
    end();
    if (!update.atTip) batch.secondsLeft = progress.secondsLeft(batch.to.blueScore, batch.targetBlueScore);
    return batch;
  }

  /** @param timestamp of the last chain block; the update itself may be forgotten while its rows are applied */
  #startApplying(batch: Batch, atTip: boolean, timestamp: bigint | undefined): void {
    const { metrics, progress, log } = this.#parts;
    const run = async (): Promise<void> => {
      const end = metrics.stageSeconds.startTimer({ stage: 'apply' });
      await apply(this.#writer, batch);
      end();
      metrics.batches.inc();
      metrics.positions.indexIsAt(batch.to.blueScore, timestamp);
      // Far from the tip the target is as old as the pages on the way to it; there the watch knows better.
      if (atTip) metrics.positions.nodeIsAt(batch.targetBlueScore);
      for (const rows of Object.values(batch.rows)) metrics.rows.inc({ table: rows.table }, rows.rows);
      if (batch.state !== undefined) metrics.rows.inc({ table: 'utxos' }, batch.state.of(UtxoChanges).createdCount);
      if (batch.removed.length > 0) {
        metrics.reorgs.inc();
        metrics.reorgDepth.observe(batch.removed.length);
        log.info({ depth: batch.removed.length, blueScore: batch.to.blueScore }, 'followed a reorg');
      }
      progress.applied(batch, atTip);
    };
    this.#applying = run();
    // Met when it is awaited: before the next batch, or at the end.
    this.#applying.catch(() => undefined);
  }

  /** The memory does not know everything any more: from here on what it lacks is looked up. */
  async #needLookUpIndexes(): Promise<void> {
    if (this.#lookUpIndexesAreBuilt) return;
    await this.#applying;
    await buildLookUpIndexes(this.#writer);
    this.#lookUpIndexesAreBuilt = true;
  }

  async #finishFirstCatchUp(checkpoint: Checkpoint): Promise<Checkpoint> {
    const { log, metrics } = this.#parts;
    log.info({ blueScore: checkpoint.blueScore }, 'caught up with the node; building indexes and balances');
    const end = metrics.stageSeconds.startTimer({ stage: 'finish' });
    await finishFirstCatchUp([this.#writer, this.#reader], (blocking) => {
      log.warn({ sessions: describeBlocking(blocking) }, 'waiting for readers of the tables of balances');
    });
    log.info({ durationMs: Math.round(end() * 1_000) }, 'finished the first catch-up');
    return { ...checkpoint, firstCatchUp: false };
  }
}

function limitsOf({ memoryTransactions }: IndexerOptions) {
  return {
    blocks: Math.max(200_000, Math.floor(memoryTransactions / 4)),
    transactions: memoryTransactions,
    outputs: memoryTransactions * 2,
    scripts: memoryTransactions,
    subnetworks: Math.ceil(memoryTransactions / 32),
    variants: Math.ceil(memoryTransactions / 32),
  };
}
