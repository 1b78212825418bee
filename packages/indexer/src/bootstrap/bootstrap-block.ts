/**
 * The bootstrap block is genesis with an empty UTXO set if the node still has all blocks, else the
 * node's pruning point (docs/architecture.md).
 */
import { fromHex, type Hash, type Network, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, type RpcBlock } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import type { BootstrapDependencies, BootstrapTiming } from '../dependencies.ts';
import { IncompleteUpdateError } from '../errors.ts';
import { findFault } from '../source/check-block.ts';

const EMPTY_UTXO_COMMITMENT = '544eb3142c000f0ad2c76ac41f4222abbababed830eeafee4b6dc56b52d5cac0';

export async function findGenesis(
  node: NodeClient,
  network: Network,
  signal: AbortSignal,
): Promise<RpcBlock | undefined> {
  const block = await findBootstrapBlock(node, network.genesisHash, signal);
  return block !== undefined && toHex(block.header.utxoCommitment) === EMPTY_UTXO_COMMITMENT ? block : undefined;
}

/**
 * Returns genesis before the first pruning.
 * @throws IncompleteUpdateError if the node has just moved its pruning point
 */
export async function getPruningPoint(node: NodeClient, signal: AbortSignal): Promise<RpcBlock> {
  const { pruningPointHash } = await node.call('getBlockDagInfo', {}, { signal });
  const block = await findBootstrapBlock(node, fromHex(pruningPointHash), signal);
  if (block === undefined) {
    throw new IncompleteUpdateError(`the node does not have its pruning point ${pruningPointHash}, or has moved it`);
  }
  return block;
}

/**
 * Returns a block only if it is complete and on the node's chain, so that the node has all blocks
 * after it.
 */
export async function findBootstrapBlock(
  node: NodeClient,
  hash: Hash,
  signal: AbortSignal,
): Promise<RpcBlock | undefined> {
  try {
    const block = await node.getBlock({ hash, includeTransactions: true }, { signal });
    if (findFault(block) !== undefined) return undefined;
    const { removedChainBlockHashes } = await node.getVirtualChainFromBlock(
      { startHash: hash, includeAcceptedTransactionIds: true },
      { signal },
    );
    return removedChainBlockHashes.length === 0 ? block : undefined;
  } catch (error) {
    if (error instanceof NodeRpcError && (error.kind === 'unknown-block' || error.kind === 'pruned')) return undefined;
    throw error;
  }
}

/**
 * A move is near in the last seventh of the interval between moves: 61,714 blue scores or 1.7 hours
 * on the public networks.
 */
const NEAR_PARTS = 7n;
const LINE_MS = 5_000;

export async function awaitPruningPoint(dependencies: BootstrapDependencies): Promise<RpcBlock> {
  const { node, network, timing, log, signal } = dependencies;
  const block = await getPruningPoint(node, signal);
  const pruningPoint = toHex(block.hash);
  let sink = { blueScore: -1n, since: 0 };
  let lineAt = Number.NEGATIVE_INFINITY;
  const begunAt = performance.now();
  for (;;) {
    // The sink first: a sink from after a move would make the pruning point from before it look far
    // from its move.
    const { blueScore } = await node.call('getSinkBlueScore', {}, { signal });
    const { pruningPointHash } = await node.call('getBlockDagInfo', {}, { signal });
    if (pruningPointHash !== pruningPoint) {
      const delayMs = timing.settleMs;
      log.info(
        { pruningPoint: pruningPointHash, delayMs },
        'the pruning point has moved; pausing while the node advances its UTXO set',
      );
      await sleep(delayMs, signal);
      return await getPruningPoint(node, signal);
    }
    const blueScoresLeft = blueScoreOfMove(block.header.blueScore, network) - blueScore;
    if (!isNear(blueScoresLeft, network)) return block;
    const now = performance.now();
    if (blueScore !== sink.blueScore) sink = { blueScore, since: now };
    if (now - sink.since >= timing.standstillMs) {
      log.info(
        { blueScore },
        'the sink of the node stands still; bootstrapping although the pruning point is about to move',
      );
      return block;
    }
    // The blue score is only a claim of the node, which would otherwise hold the bootstrap for as
    // long as it likes.
    if (now - begunAt >= Math.max(timing.standstillMs, longestWaitMs(network))) {
      log.info({ blueScore }, 'the pruning point of the node should have moved by now; bootstrapping there');
      return block;
    }
    if (now - lineAt >= LINE_MS) {
      lineAt = now;
      const secondsLeft = Math.max(0, Math.ceil((Number(blueScoresLeft) * network.targetTimePerBlockMs) / 1_000));
      log.info({ pruningPoint, blueScoresLeft, secondsLeft }, 'waiting for the node to move its pruning point');
    }
    await sleep(timing.pollMs, signal);
  }
}

/** Returns the blue score of the sink at which a node moves a pruning point of this blue score. */
export function blueScoreOfMove(
  pruningPointBlueScore: bigint,
  { finalityDepth, pruningDepth }: Pick<Network, 'finalityDepth' | 'pruningDepth'>,
): bigint {
  return (pruningPointBlueScore / finalityDepth + 1n) * finalityDepth + pruningDepth;
}

/** Returns false if the move is long overdue, since the node then has other depths than we know. */
export function isNear(blueScoresLeft: bigint, { finalityDepth }: Pick<Network, 'finalityDepth'>): boolean {
  const near = finalityDepth / NEAR_PARTS;
  return blueScoresLeft < near && blueScoresLeft > -near;
}

/** Twice as long as the sink takes from where a move is near to the move. */
function longestWaitMs({ finalityDepth, targetTimePerBlockMs }: Network): number {
  return (2 * Number(finalityDepth) * targetTimePerBlockMs) / Number(NEAR_PARTS);
}

/** On the public networks: 1, 5 and 10 minutes; 1 minute; 2 minutes; 1 hour. */
export function bootstrapTiming(network: Pick<Network, 'finalityDepth' | 'targetTimePerBlockMs'>): BootstrapTiming {
  const part = (count: number): number => (Number(network.finalityDepth) * network.targetTimePerBlockMs) / count;
  return {
    rereadPausesMs: [part(720), part(144), part(72)],
    pollMs: part(720),
    settleMs: part(360),
    standstillMs: part(12),
  };
}
