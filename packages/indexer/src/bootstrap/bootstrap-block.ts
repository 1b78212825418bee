/**
 * The block that an index begins with. A start is a block with its UTXO set (docs/architecture.md, "Start"): genesis with the empty
 * one, as long as the node has everything since; else the node's pruning point, with the set that it hands out to its peers.
 */
import { fromHex, type Hash, type Network, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, type RpcBlock } from '@kasgres/node';
import { IncompleteUpdateError } from '../errors.ts';
import { findFault } from '../source/check-block.ts';
import { type Logger, sleep } from '@kasgres/runtime';

/** The commitment of an empty UTXO set (its MuHash), which the headers of networks that begin with no UTXOs carry. */
const EMPTY_UTXO_COMMITMENT = '544eb3142c000f0ad2c76ac41f4222abbababed830eeafee4b6dc56b52d5cac0';

/**
 * @returns undefined when the node has pruned the chain since genesis, or genesis comes with UTXOs, which no node hands out
 */
export async function findGenesis(
  node: NodeClient,
  network: Network,
  signal: AbortSignal,
): Promise<RpcBlock | undefined> {
  const block = await findBootstrapBlock(node, network.genesisHash, signal);
  return block !== undefined && toHex(block.header.utxoCommitment) === EMPTY_UTXO_COMMITMENT ? block : undefined;
}

/** Genesis until the node has pruned. @throws IncompleteUpdateError when it has just moved it */
export async function getPruningPoint(node: NodeClient, signal: AbortSignal): Promise<RpcBlock> {
  const { pruningPointHash } = await node.call('getBlockDagInfo', {}, { signal });
  const block = await findBootstrapBlock(node, fromHex(pruningPointHash), signal);
  if (block === undefined) {
    throw new IncompleteUpdateError(`the node does not have its pruning point ${pruningPointHash}, or has moved it`);
  }
  return block;
}

/** A block from which on the node has everything: whole, and on its chain. */
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

/** A move is near in the last seventh of the way to it: 61,714 blue scores or 1.7 hours on the public networks. */
const NEAR_PARTS = 7n;
const LINE_MS = 5_000;

export interface PruningPointParts {
  node: NodeClient;
  network: Pick<Network, 'finalityDepth' | 'pruningDepth' | 'targetTimePerBlockMs'>;
  timing: BootstrapTiming;
  log: Logger;
}

/** Returns the node's pruning point at once, or after the move if that is near. @throws as getPruningPoint */
export async function awaitPruningPoint(parts: PruningPointParts, signal: AbortSignal): Promise<RpcBlock> {
  const { node, network, timing, log } = parts;
  const block = await getPruningPoint(node, signal);
  const pruningPoint = toHex(block.hash);
  let sink = { blueScore: -1n, since: 0 };
  let lineAt = Number.NEGATIVE_INFINITY;
  for (;;) {
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
    const { blueScore } = await node.call('getSinkBlueScore', {}, { signal });
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
    if (now - lineAt >= LINE_MS) {
      lineAt = now;
      const secondsLeft = Math.max(0, Math.ceil((Number(blueScoresLeft) * network.targetTimePerBlockMs) / 1_000));
      log.info({ pruningPoint, blueScoresLeft, secondsLeft }, 'waiting for the node to move its pruning point');
    }
    await sleep(timing.pollMs, signal);
  }
}

/** Blue score of the sink at which a node moves its pruning point on from one of this blue score. */
export function blueScoreOfMove(
  pruningPointBlueScore: bigint,
  { finalityDepth, pruningDepth }: PruningPointParts['network'],
): bigint {
  return (pruningPointBlueScore / finalityDepth + 1n) * finalityDepth + pruningDepth;
}

/** A node that is far beyond the move and has not made it has other depths than we know: it is not waited for. */
export function isNear(blueScoresLeft: bigint, { finalityDepth }: PruningPointParts['network']): boolean {
  const near = finalityDepth / NEAR_PARTS;
  return blueScoresLeft < near && blueScoresLeft > -near;
}

export interface BootstrapTiming {
  /** Pauses before a UTXO set that does not match its commitment is read again, as long as the pruning point stays the same. */
  rereadPausesMs: readonly number[];
  /** Between two looks at a node whose pruning point is about to move. */
  pollMs: number;
  /** From the publication of a new pruning point until the node has probably advanced its UTXO set to it. */
  settleMs: number;
  /** A sink that has not moved for this long is not going to move the pruning point soon. */
  standstillMs: number;
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
