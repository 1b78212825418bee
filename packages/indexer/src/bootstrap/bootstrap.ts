/**
 * Begins an index, or begins it again after a gap: everything that a start writes, from what it undoes to the checkpoint's move, is
 * one transaction.
 */
import { inTransaction } from '@kasgres/database';
import { type Network, toHex } from '@kasgres/kaspa';
import { type NodeClient, PruningPointMovedError, type RpcBlock } from '@kasgres/node';
import { FatalError, type Logger, sleep } from '@kasgres/runtime';
import type { ClientBase } from 'pg';
import { lockCheckpoint, writeBatch } from '../apply/apply.ts';
import { writeNetwork, writeNextKeys } from '../apply/checkpoint.ts';
import { deferIndexes } from '../apply/first-catch-up.ts';
import { replaceState } from '../apply/replace-state.ts';
import { NodeBehindError } from '../errors.ts';
import type { Memory } from '../memory/memory.ts';
import type { Metrics } from '../metrics.ts';
import { AmbiguousVariants } from '../prepare/ambiguous-variants.ts';
import type { Checkpoint } from '../prepare/batch.ts';
import {
  findFork,
  findOnChain,
  getChainBlockBelow,
  getBootstrap,
  listTopHashes,
  loadPreBootstrapBlocks,
} from '../prepare/look-ups.ts';
import { type Fork, Preparer } from '../prepare/preparer.ts';
import { awaitPruningPoint, type BootstrapTiming, findBootstrapBlock, getPruningPoint } from './bootstrap-block.ts';
import { discardIndex } from './discard-index.ts';
import { forgetUtxoSet, loadUtxoSet } from './load-utxo-set.ts';
import { writeGap, writeBootstrap, writeUtxoSet } from './write-bootstrap.ts';

export interface BootstrapDependencies {
  node: NodeClient;
  client: ClientBase;
  network: Network;
  /** The p2p address of a node. */
  p2pUrl: string;
  /** One that knows nothing yet. */
  createMemory: (checkpoint: Checkpoint) => Memory;
  timing: BootstrapTiming;
  log: Logger;
  metrics: Metrics;
}

/** As they stand in `gaps`. */
const GAP_REASONS = {
  pruned: 'The node had pruned the block at the checkpoint',
  otherChain: 'The node follows a chain that does not have the block at the checkpoint, or left ours below finality',
};

/** Undone in one batch by a new start. */
const CHAIN_BLOCKS_AT_ONCE = 1_000;

/** Where the index begins to count: nothing is written yet. */
export const EMPTY_CHECKPOINT: Checkpoint = {
  blockId: 0,
  hash: new Uint8Array(32),
  blueScore: 0n,
  chainIndex: -1,
  chainTime: 0n,
  nextBlockId: 1,
  nextTransactionId: 1,
  nextScriptId: 1,
  nextSubnetworkId: 2,
  firstCatchUp: true,
};

/** Writes genesis by the preparer that continues from there, and leaves the indexes that can wait to the end of the catch-up. */
export async function bootstrapAtGenesis(
  { client, network, log }: Pick<BootstrapDependencies, 'client' | 'network' | 'log'>,
  preparer: Preparer,
  block: RpcBlock,
): Promise<Checkpoint> {
  const checkpoint = await inTransaction(client, async () => {
    await lockCheckpoint(client, EMPTY_CHECKPOINT);
    await writeNetwork(client, network);
    await deferIndexes(client);
    const to = await writeStartBlock(client, preparer, block, EMPTY_CHECKPOINT, EMPTY_CHECKPOINT);
    await writeBootstrap(client);
    return to;
  });
  log.info({ network: network.id }, 'began an index at genesis');
  return checkpoint;
}

/**
 * Begins at the node's pruning point with its UTXO set.
 * @throws as loadUtxoSet; PruningPointMovedError; NodeBehindError while the node has nothing but a genesis with UTXOs
 */
export async function bootstrapAtPruningPoint(parts: BootstrapDependencies, signal: AbortSignal): Promise<void> {
  const { client, network, log } = parts;
  const block = await awaitPruningPoint(parts, signal);
  if (Buffer.compare(block.hash, network.genesisHash) === 0) {
    throw new NodeBehindError('The node has no block but genesis yet: an index begins when it has more.');
  }
  // By itself: it locks out readers, who may be there before there is anything to read.
  await inTransaction(client, () => deferIndexes(client));
  await load(parts, block, signal);
  await inTransaction(client, async () => {
    await lockCheckpoint(client, EMPTY_CHECKPOINT);
    await writeNetwork(client, network);
    const from = { ...EMPTY_CHECKPOINT, ...(await writeUtxoSet(client, EMPTY_CHECKPOINT)) };
    await writeStartBlock(client, await createPreparer(parts, from, block), block, from, EMPTY_CHECKPOINT);
    await writeBootstrap(client);
    await forgetUtxoSet(client);
  });
  log.info(
    { network: network.id, block: toHex(block.hash), daaScore: block.header.daaScore },
    'began an index at the pruning point of the node',
  );
}

/**
 * Discards a newborn index after the node has moved its pruning point above the checkpoint. The next attempt finds an empty database and
 * bootstraps at the present pruning point.
 * @throws FatalError when the node's pruning point is not above ours: then it did not move, and the node follows another chain
 */
export async function discardForNewBootstrap(
  { node, client, log }: BootstrapDependencies,
  from: Checkpoint,
  signal: AbortSignal,
): Promise<void> {
  const block = await getPruningPoint(node, signal);
  await checkAboveStart(client, block);
  await discardIndex(client);
  log.warn(
    { blueScore: from.blueScore, pruningPoint: toHex(block.hash) },
    'the node moved its pruning point above the checkpoint during the first catch-up; discarded the index to bootstrap again',
  );
}

/**
 * Begins again at the pruning point of a node that has no more what comes after the checkpoint, or never had: state is replaced by
 * the UTXO set there. Our chain is undone as far as it cannot be below the new start; what is missing between is a row of `gaps`. From
 * there on the chain is followed as ever, unless a first catch-up had not come to its end: that makes the state from all rows.
 * @throws as loadUtxoSet; PruningPointMovedError; FatalError when the node's pruning point is not above our latest start
 */
export async function bootstrapAfterGap(
  parts: BootstrapDependencies,
  from: Checkpoint,
  signal: AbortSignal,
): Promise<void> {
  const { client, log } = parts;
  const block = await awaitPruningPoint(parts, signal);
  await checkAboveStart(client, block);
  await load(parts, block, signal);
  await inTransaction(client, async () => {
    await lockCheckpoint(client, from);
    const onChain = await findOnChain(client, block.hash);
    const fork = onChain ?? (await getChainBlockBelow(client, block.header.blueScore));
    const atFork = await undoAbove(parts, from, fork, block);
    const counted = { ...atFork, ...(await writeUtxoSet(client, atFork)) };
    await writeNextKeys(client, counted);
    const start =
      onChain ?? (await writeStartBlock(client, await createPreparer(parts, counted, block), block, counted, fork));
    if (!from.firstCatchUp) await replaceState(client, start.chainTime, atFork.nextTransactionId);
    if (onChain === undefined) {
      const isPruned = block.header.blueScore > from.blueScore;
      await writeGap(client, fork.hash, block.hash, isPruned ? GAP_REASONS.pruned : GAP_REASONS.otherChain);
    }
    await writeBootstrap(client);
    await forgetUtxoSet(client);
    log.warn(
      {
        after: toHex(fork.hash),
        before: toHex(block.hash),
        daaScore: block.header.daaScore,
        undone: from.chainIndex - fork.chainIndex,
        isGap: onChain === undefined,
      },
      'began again at the pruning point of the node',
    );
  });
}

/** Undoes the chain blocks above the fork, as a reorg does. @param block the new start */
async function undoAbove(
  parts: BootstrapDependencies,
  from: Checkpoint,
  fork: Fork,
  block: RpcBlock,
): Promise<Checkpoint> {
  if (from.chainIndex === fork.chainIndex) return from;
  const { client } = parts;
  const preparer = await createPreparer(parts, from, block);
  let at = from;
  while (at.chainIndex > fork.chainIndex) {
    const removed = await listTopHashes(client, Math.min(at.chainIndex - fork.chainIndex, CHAIN_BLOCKS_AT_ONCE));
    const update = { removed, added: [], tail: undefined, atTip: false, targetBlueScore: block.header.blueScore };
    const batch = await preparer.prepare(client, update, at, await findFork(client, at, removed.length));
    await writeBatch(client, batch);
    at = batch.to;
  }
  return at;
}

async function checkAboveStart(client: ClientBase, { header }: RpcBlock): Promise<void> {
  const latest = await getBootstrap(client);
  if (header.blueScore > latest.blueScore) return;
  throw new FatalError(
    `${GAP_REASONS.otherChain}. Its pruning point, at blue score ${header.blueScore}, is not above the start of this database, at ` +
      `${latest.blueScore}: the index cannot continue from there. Point NODE_URL at another node, or start with an empty database.`,
  );
}

async function load(parts: BootstrapDependencies, block: RpcBlock, signal: AbortSignal): Promise<void> {
  const { client, p2pUrl: url, network, timing, log, metrics } = parts;
  try {
    await loadUtxoSet({ client, url, network, block, timing, log, metrics }, signal);
    await checkNotMoved(parts, block, signal);
  } catch (error) {
    if (!(error instanceof PruningPointMovedError)) throw error;
    // The node publishes its new pruning point first, and then advances its UTXO set to it.
    log.info(
      { delayMs: timing.settleMs },
      'the pruning point moved during the load; pausing while the node advances its UTXO set',
    );
    await sleep(timing.settleMs, signal);
    throw error;
  } finally {
    metrics.bootstrapUtxos.set(0);
  }
}

/** The load takes a while, and the write that follows too: without the blocks above the pruning point both would be in vain. */
async function checkNotMoved({ node }: BootstrapDependencies, block: RpcBlock, signal: AbortSignal): Promise<void> {
  const { pruningPointHash } = await node.call('getBlockDagInfo', {}, { signal });
  if (pruningPointHash === toHex(block.hash) && (await findBootstrapBlock(node, block.hash, signal)) !== undefined)
    return;
  throw new PruningPointMovedError(
    `the node moved its pruning point from ${toHex(block.hash)} to ${pruningPointHash} while the UTXO set was loaded`,
  );
}

async function createPreparer(
  parts: BootstrapDependencies,
  checkpoint: Checkpoint,
  block: RpcBlock,
): Promise<Preparer> {
  const { client, network, createMemory } = parts;
  const memory = createMemory(checkpoint);
  await loadPreBootstrapBlocks(client, memory);
  // No block was merged, so none is ambiguous.
  const ambiguousVariants = new AmbiguousVariants(async () => undefined);
  return new Preparer(memory, network, ambiguousVariants, checkpoint, block.header.blueScore);
}

/** The block as a chain block on top of the fork. What it merged and accepted is before the start. */
async function writeStartBlock(
  client: ClientBase,
  preparer: Preparer,
  block: RpcBlock,
  from: Checkpoint,
  fork: Fork,
): Promise<Checkpoint> {
  const update = {
    removed: [],
    added: [{ block, mergeSet: [], acceptedTransactionIds: [] }],
    tail: undefined,
    atTip: false,
    targetBlueScore: block.header.blueScore,
  };
  const batch = await preparer.prepare(client, update, from, fork);
  await writeBatch(client, batch);
  return batch.to;
}
