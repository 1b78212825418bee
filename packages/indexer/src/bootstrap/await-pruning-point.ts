/**
 * Chooses the moment of a bootstrap. A load is void once the node moves its pruning point, so a move that is near is awaited.
 *
 * A node moves its pruning point as soon as its sink is one pruning depth above the next chain block whose blue score reaches a
 * multiple of the finality depth (rusty-kaspa, `consensus/src/processes/pruning.rs`). On the public networks the pruning point is then
 * up to 1,512,000 blue scores below the sink; from 1,450,286 on the move counts as near.
 */
import { type Network, toHex } from '@kasgres/kaspa';
import type { NodeClient, RpcBlock } from '@kasgres/node';
import { type Logger, sleep } from '@kasgres/runtime';
import { getPruningPoint } from './bootstrap-block.ts';
import type { BootstrapTiming } from './timing.ts';

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
