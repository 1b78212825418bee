/**
 * The loop: from the checkpoint, take updates from the source, prepare each while the one before is being applied, and after
 * any failure begin again at the checkpoint. Nothing but the database remembers where we are.
 */
import type { Connection } from '@kasgres/database';
import type { Network } from '@kasgres/kaspa';
import { type NodeClient, NodeUnsuitableError } from '@kasgres/node';
import type { Logger } from '@kasgres/runtime';
import type { ClientBase, PoolClient } from 'pg';
import { apply } from './apply/apply.ts';
import { findCheckpoint, findNetworkOfDatabase, writeNetwork } from './apply/checkpoint.ts';
import { buildLookUpIndexes, deferIndexes, finishFirstCatchUp } from './apply/first-catch-up.ts';
import type { Sessions } from './apply/sessions.ts';
import { takeWriterLock } from './apply/writer-lock.ts';
import type { ChainUpdate } from './chain-update.ts';
import { Memory } from './memory/memory.ts';
import type { Metrics } from './metrics.ts';
import type { Batch, Checkpoint } from './prepare/batch.ts';
import { AmbiguousBodies } from './prepare/ambiguous-bodies.ts';
import { findFork, loadSubnetworks } from './prepare/look-ups.ts';
import { Preparer } from './prepare/preparer.ts';
import type { Progress } from './progress.ts';
import { findSources } from './source/find-sources.ts';
import { Source, type SourceLimits } from './source/source.ts';
import { getFirstBlock } from './start.ts';

export interface IndexerOptions extends SourceLimits {
  memoryTransactions: number;
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
}

/** Where the index begins to count: nothing is written yet. */
const NOTHING: Checkpoint = {
  blockId: 0,
  hash: new Uint8Array(32),
  blueScore: 0n,
  chainIndex: -1,
  nextBlockId: 1,
  nextTransactionId: 1,
  nextScriptId: 1,
  nextSubnetworkId: 2,
  firstCatchUp: true,
};

/**
 * Follows the chain from the checkpoint until the signal, or until something fails.
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
    await takeWriterLock(writer, untilLost);
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
    const found = await findCheckpoint(this.#writer);
    let checkpoint = found ?? NOTHING;
    const memory = new Memory(limitsOf(options), checkpoint.nextTransactionId, found === undefined);
    await loadSubnetworks(this.#reader, memory);
    const ambiguousBodies = new AmbiguousBodies((question) => findSources(node, question, this.#signal));
    await ambiguousBodies.load(this.#reader);
    const preparer = new Preparer(memory, network, ambiguousBodies, checkpoint);
    if (found === undefined) checkpoint = await this.#begin(preparer);
    metrics.positions.indexIsAt(checkpoint.blueScore, undefined);

    const source = new Source(node, network, options);
    let asked = performance.now();
    try {
      for await (const update of source.updates(checkpoint, this.#signal)) {
        metrics.stageSeconds.observe({ stage: 'wait' }, (performance.now() - asked) / 1_000);
        if (checkpoint.firstCatchUp && !memory.knowsEverything) await this.#needLookUpIndexes();
        const batch = await this.#prepare(preparer, update, checkpoint);
        checkpoint = batch.to;
        await this.#applying;
        this.#startApplying(batch, update);
        if (update.atTip) {
          await this.#applying;
          if (checkpoint.firstCatchUp) checkpoint = await this.#finishFirstCatchUp(checkpoint);
        }
        asked = performance.now();
      }
    } finally {
      await this.#applying.catch(() => undefined);
    }
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

  /** Writes the first block, and leaves the indexes that can wait to the end of the catch-up. */
  async #begin(preparer: Preparer): Promise<Checkpoint> {
    const { node, network, log } = this.#parts;
    const block = await getFirstBlock(node, network, this.#signal);
    const update: ChainUpdate = {
      removed: [],
      added: [{ block, mergeSet: [], acceptedTransactionIds: [] }],
      tail: undefined,
      atTip: false,
      targetBlueScore: 0n,
    };
    const batch = await preparer.prepare(this.#reader, update, NOTHING, NOTHING);
    await apply(this.#writer, batch, async (client) => {
      await writeNetwork(client, network);
      await deferIndexes(client);
    });
    log.info({ network: network.id }, 'began an index at genesis');
    return batch.to;
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

  #startApplying(batch: Batch, update: ChainUpdate): void {
    const { metrics, progress, log } = this.#parts;
    const run = async (): Promise<void> => {
      const end = metrics.stageSeconds.startTimer({ stage: 'apply' });
      await apply(this.#writer, batch);
      end();
      metrics.batches.inc();
      metrics.positions.indexIsAt(batch.to.blueScore, update.added.at(-1)?.block.header.timestamp);
      // Far from the tip the target is as old as the pages on the way to it; there the watch knows better.
      if (update.atTip) metrics.positions.nodeIsAt(batch.targetBlueScore);
      for (const rows of Object.values(batch.rows)) metrics.rows.inc({ table: rows.table }, rows.rows);
      if (batch.removed.length > 0) {
        metrics.reorgs.inc();
        metrics.reorgDepth.observe(batch.removed.length);
        log.info({ depth: batch.removed.length, blueScore: batch.to.blueScore }, 'followed a reorg');
      }
      progress.applied(batch, update.atTip);
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
    await finishFirstCatchUp([this.#writer, this.#reader]);
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
  };
}
