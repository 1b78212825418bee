/**
 * Bootstraps an empty index, or one after a gap. All rows of a bootstrap, including reverts and the
 * checkpoint, are one transaction.
 */
import { inTransaction } from '@kasgres/database';
import { toHex } from '@kasgres/kaspa';
import { NodeUnsuitableError, PruningPointMovedError, type RpcBlock } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import type { ClientBase } from 'pg';
import { lockCheckpoint, writeBatch } from '../apply/apply.ts';
import { writeNetwork, writeNextKeys } from '../apply/checkpoint.ts';
import { deferIndexes } from '../apply/first-catch-up.ts';
import { createUpdate } from '../chain-update.ts';
import type { BootstrapDependencies } from '../dependencies.ts';
import { NodeBehindError } from '../errors.ts';
import {
  findFork,
  findOnChain,
  getBootstrap,
  getChainBlockBelow,
  listTopHashes,
  loadPreBootstrapBlocks,
} from '../indexed-chain.ts';
import { Memory } from '../memory/memory.ts';
import { AmbiguousVariants } from '../prepare/ambiguous-variants.ts';
import type { Checkpoint, Fork } from '../prepare/batch.ts';
import { Preparer } from '../prepare/preparer.ts';
import { Registry } from '../prepare/registry.ts';
import { awaitPruningPoint, findBootstrapBlock, getPruningPoint } from './bootstrap-block.ts';
import { discardIndex } from './discard-index.ts';
import { forgetUtxoSet, loadUtxoSet } from './load-utxo-set.ts';
import { replaceState, writeBootstrap, writeGap, writeUtxoSet } from './write-bootstrap.ts';

const GAP_REASONS = {
  pruned: 'The node had pruned the block at the checkpoint',
  otherChain: 'The node follows a chain that does not have the block at the checkpoint, or left ours below finality',
};

const CHAIN_BLOCKS_AT_ONCE = 1_000;

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

export async function bootstrapAtGenesis(
  { client, network, log }: Pick<BootstrapDependencies, 'client' | 'network' | 'log'>,
  preparer: Preparer,
  block: RpcBlock,
): Promise<Checkpoint> {
  const checkpoint = await inTransaction(client, async () => {
    await lockCheckpoint(client, EMPTY_CHECKPOINT);
    await writeNetwork(client, network);
    await deferIndexes(client);
    const to = await writeBootstrapBlock(client, preparer, block, EMPTY_CHECKPOINT, EMPTY_CHECKPOINT);
    await writeBootstrap(client);
    return to;
  });
  log.info({ network: network.id }, 'began an index at genesis');
  return checkpoint;
}

/**
 * @throws as loadUtxoSet; PruningPointMovedError; NodeBehindError while the node has only a genesis
 * with UTXOs
 */
export async function bootstrapAtPruningPoint(dependencies: BootstrapDependencies): Promise<void> {
  const { client, network, log } = dependencies;
  const block = await awaitPruningPoint(dependencies);
  if (Buffer.compare(block.hash, network.genesisHash) === 0) {
    throw new NodeBehindError('The node has no block but genesis yet: an index begins when it has more.');
  }
  // In a separate short transaction, since it locks readers out.
  await inTransaction(client, () => deferIndexes(client));
  await resetLoadMetricAfter(dependencies, async () => {
    await load(dependencies, block);
    await inTransaction(client, async () => {
      await lockCheckpoint(client, EMPTY_CHECKPOINT);
      await writeNetwork(client, network);
      const from = { ...EMPTY_CHECKPOINT, ...(await writeUtxoSet(client, EMPTY_CHECKPOINT)) };
      await writeBootstrapBlock(client, await createPreparer(dependencies, from, block), block, from, EMPTY_CHECKPOINT);
      await writeBootstrap(client);
      await forgetUtxoSet(client);
    });
  });
  log.info(
    { network: network.id, block: toHex(block.hash), daaScore: block.header.daaScore },
    'began an index at the pruning point of the node',
  );
}

/**
 * @throws NodeUnsuitableError if the node's pruning point is not above ours, since the node then
 * follows another chain
 */
export async function discardForNewBootstrap(
  { node, client, log, signal }: BootstrapDependencies,
  from: Checkpoint,
): Promise<void> {
  const block = await getPruningPoint(node, signal);
  await checkAboveBootstrap(client, block);
  await discardIndex(client);
  log.warn(
    { blueScore: from.blueScore, pruningPoint: toHex(block.hash) },
    'the node moved its pruning point above the checkpoint during the first catch-up; discarded the index to bootstrap again',
  );
}

/**
 * Reverts to the fork, replaces the state by the UTXO set of the pruning point and records the gap.
 * @throws as loadUtxoSet; PruningPointMovedError
 */
export async function bootstrapAfterGap(dependencies: BootstrapDependencies, from: Checkpoint): Promise<void> {
  const { client, log } = dependencies;
  const block = await awaitPruningPoint(dependencies);
  await checkAboveBootstrap(client, block);
  const { fork, isGap } = await resetLoadMetricAfter(dependencies, async () => {
    await load(dependencies, block);
    return await inTransaction(client, async () => {
      await lockCheckpoint(client, from);
      const onChain = await findOnChain(client, block.hash);
      const fork = onChain ?? (await getChainBlockBelow(client, block.header.blueScore));
      const atFork = await revertAbove(dependencies, from, fork, block);
      const counted = { ...atFork, ...(await writeUtxoSet(client, atFork)) };
      await writeNextKeys(client, counted);
      const bootstrapBlock =
        onChain ??
        (await writeBootstrapBlock(client, await createPreparer(dependencies, counted, block), block, counted, fork));
      if (!from.firstCatchUp) {
        const { chainTime } = bootstrapBlock;
        const fromTransactionId = atFork.nextTransactionId;
        await replaceState(client, { chainTime, fromTransactionId, isGap: onChain === undefined });
      }
      if (onChain === undefined) {
        const isPruned = block.header.blueScore > from.blueScore;
        await writeGap(client, fork.hash, block.hash, isPruned ? GAP_REASONS.pruned : GAP_REASONS.otherChain);
      }
      await writeBootstrap(client);
      await forgetUtxoSet(client);
      return { fork, isGap: onChain === undefined };
    });
  });
  log.warn(
    {
      after: toHex(fork.hash),
      before: toHex(block.hash),
      daaScore: block.header.daaScore,
      undone: from.chainIndex - fork.chainIndex,
      isGap,
    },
    'began again at the pruning point of the node',
  );
}

async function revertAbove(
  dependencies: BootstrapDependencies,
  from: Checkpoint,
  fork: Fork,
  block: RpcBlock,
): Promise<Checkpoint> {
  if (from.chainIndex === fork.chainIndex) return from;
  const { client } = dependencies;
  const preparer = await createPreparer(dependencies, from, block);
  let at = from;
  while (at.chainIndex > fork.chainIndex) {
    const removed = await listTopHashes(client, Math.min(at.chainIndex - fork.chainIndex, CHAIN_BLOCKS_AT_ONCE));
    const update = createUpdate(block.header.blueScore, { removed });
    const batch = await preparer.prepare(client, update, at, await findFork(client, at, removed.length));
    await writeBatch(client, batch);
    at = batch.to;
  }
  return at;
}

async function checkAboveBootstrap(client: ClientBase, { header }: RpcBlock): Promise<void> {
  const latest = await getBootstrap(client);
  if (header.blueScore > latest.blueScore) return;
  throw new NodeUnsuitableError(
    'below-bootstrap',
    `${GAP_REASONS.otherChain}. Its pruning point, at blue score ${header.blueScore}, is not above the bootstrap block of this database, at ` +
      `${latest.blueScore}: the index cannot continue from there. Point NODE_URL at another node, or start with an empty database.`,
  );
}

async function load(dependencies: BootstrapDependencies, block: RpcBlock): Promise<void> {
  const { timing, log, signal } = dependencies;
  try {
    await loadUtxoSet(dependencies, block);
    await checkNotMoved(dependencies, block);
  } catch (error) {
    if (!(error instanceof PruningPointMovedError)) throw error;
    // The node publishes its new pruning point before it advances its UTXO set.
    log.info(
      { delayMs: timing.settleMs },
      'the pruning point moved during the load; pausing while the node advances its UTXO set',
    );
    await sleep(timing.settleMs, signal);
    throw error;
  }
}

/**
 * Resets the metric of loaded UTXOs after the write, during which alerts would otherwise see an
 * index that does not move.
 */
async function resetLoadMetricAfter<Result>(
  { metrics }: BootstrapDependencies,
  loadAndWrite: () => Promise<Result>,
): Promise<Result> {
  try {
    return await loadAndWrite();
  } finally {
    metrics.bootstrapUtxos.set(0);
  }
}

/** Checks before the long write that the node still has the blocks above the pruning point. */
async function checkNotMoved({ node, signal }: BootstrapDependencies, block: RpcBlock): Promise<void> {
  const { pruningPointHash } = await node.call('getBlockDagInfo', {}, { signal });
  if (pruningPointHash === toHex(block.hash) && (await findBootstrapBlock(node, block.hash, signal)) !== undefined)
    return;
  throw new PruningPointMovedError(
    `the node moved its pruning point from ${toHex(block.hash)} to ${pruningPointHash} while the UTXO set was loaded`,
  );
}

async function createPreparer(
  { client, network, options }: BootstrapDependencies,
  checkpoint: Checkpoint,
  block: RpcBlock,
): Promise<Preparer> {
  const memory = new Memory(options.memoryTransactions, checkpoint.nextTransactionId, false);
  await loadPreBootstrapBlocks(client, memory);
  const registry = new Registry(memory, network, checkpoint, block.header.blueScore);
  // A bootstrap merges no blocks, so no variant is ambiguous.
  return new Preparer(registry, new AmbiguousVariants(async () => undefined));
}

/**
 * Writes the block as a chain block on top of the fork, without its mergeset, which is
 * pre-bootstrap.
 */
async function writeBootstrapBlock(
  client: ClientBase,
  preparer: Preparer,
  block: RpcBlock,
  from: Checkpoint,
  fork: Fork,
): Promise<Checkpoint> {
  const added = [{ block, mergeSet: [], acceptedTransactionIds: [] }];
  const update = createUpdate(block.header.blueScore, { added });
  const batch = await preparer.prepare(client, update, from, fork);
  await writeBatch(client, batch);
  return batch.to;
}
