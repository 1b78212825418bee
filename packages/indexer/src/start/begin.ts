/**
 * Begins an index, or begins it again after a gap: everything that a start writes, from what it undoes to the checkpoint's move, is
 * one transaction.
 */
import { inTransaction } from '@kasgres/database';
import { type Network, toHex } from '@kasgres/kaspa';
import { type NodeClient, PruningPointMovedError, type RpcBlock } from '@kasgres/node';
import { FatalError, type Logger } from '@kasgres/runtime';
import type { ClientBase } from 'pg';
import { lockCheckpoint, writeBatch } from '../apply/apply.ts';
import { restartFrom, writeNetwork } from '../apply/checkpoint.ts';
import { deferIndexes } from '../apply/first-catch-up.ts';
import { undoChainAbove } from '../apply/undo.ts';
import { NodeBehindError } from '../errors.ts';
import type { Memory } from '../memory/memory.ts';
import type { Metrics } from '../metrics.ts';
import { AmbiguousBodies } from '../prepare/ambiguous-bodies.ts';
import type { Checkpoint } from '../prepare/batch.ts';
import { findOnChain, getChainBlockBelow, getStart, loadEarlierBlocks, loadSubnetworks } from '../prepare/look-ups.ts';
import { type Fork, Preparer } from '../prepare/preparer.ts';
import { findStart, getPruningPoint } from './first-block.ts';
import { forgetUtxoSet, loadUtxoSet } from './utxo-set.ts';
import { writeGap, writeStart, writeUtxoSet } from './write-start.ts';

export interface BeginParts {
  node: NodeClient;
  client: ClientBase;
  network: Network;
  /** The p2p address of a node. */
  p2pUrl: string;
  /** One that knows nothing yet. */
  createMemory: (checkpoint: Checkpoint) => Memory;
  log: Logger;
  metrics: Metrics;
}

/** Where even an index of nothing but genesis has rows. */
const TABLES_OF_CHAIN = [
  'checkpoint',
  'starts',
  'chain_blocks',
  'blocks',
  'block_transactions',
  'transactions',
  'transaction_outputs',
  'scripts',
  'address_transactions',
  'balances',
];

/** As they stand in `gaps`. */
const GAP_REASONS = {
  pruned: 'The node had pruned the block at the checkpoint',
  otherChain: 'The node follows a chain that does not have the block at the checkpoint, or left ours below finality',
};

/** Where the index begins to count: nothing is written yet. */
export const NOTHING: Checkpoint = {
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

/** Writes genesis by the preparer that goes on from there, and leaves the indexes that can wait to the end of the catch-up. */
export async function beginAtGenesis(
  { client, network, log }: Pick<BeginParts, 'client' | 'network' | 'log'>,
  preparer: Preparer,
  block: RpcBlock,
): Promise<Checkpoint> {
  const checkpoint = await inTransaction(client, async () => {
    await lockCheckpoint(client, NOTHING);
    await writeNetwork(client, network);
    await deferIndexes(client);
    const to = await writeStartBlock(client, preparer, block, NOTHING, NOTHING);
    await writeStart(client);
    return to;
  });
  log.info({ network: network.id }, 'began an index at genesis');
  return checkpoint;
}

/**
 * Begins at the node's pruning point with its UTXO set.
 * @throws as loadUtxoSet; PruningPointMovedError; NodeBehindError while the node has nothing but a genesis with coins
 */
export async function beginAtPruningPoint(parts: BeginParts, signal: AbortSignal): Promise<void> {
  const { client, network, log } = parts;
  const block = await getPruningPoint(parts.node, signal);
  if (Buffer.compare(block.hash, network.genesisHash) === 0) {
    throw new NodeBehindError('The node has no block but genesis yet: an index begins when it has more.');
  }
  // By itself: it locks out readers, who may be there before there is anything to read.
  await inTransaction(client, () => deferIndexes(client));
  await load(parts, block, signal);
  await inTransaction(client, async () => {
    await lockCheckpoint(client, NOTHING);
    await writeNetwork(client, network);
    const from = { ...NOTHING, ...(await writeUtxoSet(client, NOTHING)) };
    await writeStartBlock(client, await createPreparer(parts, from, block), block, from, NOTHING);
    await writeStart(client);
    await forgetUtxoSet(client);
  });
  log.info(
    { network: network.id, block: toHex(block.hash), daaScore: block.header.daaScore },
    'began an index at the pruning point of the node',
  );
}

/**
 * Forgets an index of nothing but genesis. A new node has only that for minutes, and then takes over a chain that is pruned: the index
 * begins there too, and nothing is missing.
 */
export function forgetGenesis(client: ClientBase): Promise<void> {
  return inTransaction(client, async () => {
    for (const table of TABLES_OF_CHAIN) await client.query(`delete from ${table}`);
  });
}

/**
 * Begins again at the pruning point of a node that has no more what comes after the checkpoint, or never had: state is replaced by
 * the UTXO set there. Our chain is undone as far as it cannot be below the new start; what is missing between is a row of `gaps`.
 * @throws as loadUtxoSet; PruningPointMovedError; FatalError when the node's pruning point is not above our latest start
 */
export async function beginAgain(parts: BeginParts, from: Checkpoint, signal: AbortSignal): Promise<void> {
  const { client, log } = parts;
  const block = await getPruningPoint(parts.node, signal);
  const latest = await getStart(client);
  if (block.header.blueScore <= latest.blueScore) {
    throw new FatalError(
      `${GAP_REASONS.otherChain}. Its pruning point, at blue score ${block.header.blueScore}, is not above the start of this database, at ` +
        `${latest.blueScore}: there is no going on from there. Point NODE_URL at another node, or start with an empty database.`,
    );
  }
  await load(parts, block, signal);
  await inTransaction(client, async () => {
    await lockCheckpoint(client, from);
    const onChain = await findOnChain(client, block.hash);
    const fork = onChain ?? (await getChainBlockBelow(client, block.header.blueScore));
    const undone = await undoChainAbove(client, fork.chainIndex, from.firstCatchUp);
    const counted = { ...from, ...(await writeUtxoSet(client, from)) };
    if (onChain === undefined) {
      await writeStartBlock(client, await createPreparer(parts, counted, block), block, counted, fork);
      const isPruned = block.header.blueScore > from.blueScore;
      await writeGap(client, fork.hash, block.hash, isPruned ? GAP_REASONS.pruned : GAP_REASONS.otherChain);
    }
    await restartFrom(client, onChain, counted);
    await writeStart(client);
    await forgetUtxoSet(client);
    log.warn(
      {
        after: toHex(fork.hash),
        before: toHex(block.hash),
        daaScore: block.header.daaScore,
        undone,
        isGap: onChain === undefined,
      },
      'began again at the pruning point of the node',
    );
  });
}

async function load(parts: BeginParts, block: RpcBlock, signal: AbortSignal): Promise<void> {
  const { node, client, p2pUrl: url, network, log, metrics } = parts;
  try {
    await loadUtxoSet({ client, url, network, block, log, metrics }, signal);
  } finally {
    metrics.startUtxos.set(0);
  }
  // The load takes a while: without what comes after it the set is of no use.
  if ((await findStart(node, block.hash, signal)) === undefined) {
    throw new PruningPointMovedError(`the node has pruned ${toHex(block.hash)} while its UTXO set was loaded`);
  }
}

async function createPreparer(parts: BeginParts, checkpoint: Checkpoint, block: RpcBlock): Promise<Preparer> {
  const { client, network, createMemory } = parts;
  const memory = createMemory(checkpoint);
  await loadSubnetworks(client, memory);
  await loadEarlierBlocks(client, memory);
  // No block was merged, so none is ambiguous.
  const ambiguousBodies = new AmbiguousBodies(async () => undefined);
  return new Preparer(memory, network, ambiguousBodies, checkpoint, block.header.blueScore);
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
