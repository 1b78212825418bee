import type { NodeClient } from '@kasgres/node';
import { type Logger, sleep } from '@kasgres/runtime';
import type { Metrics } from './metrics.ts';

const PAUSE_MS = 5_000;
const DEADLINE_MS = 10_000;
const WARN_EVERY_MS = 60_000;

export async function watchNode(
  nodes: { readonly client: Pick<NodeClient, 'call'> },
  metrics: Pick<Metrics, 'nodeConnected' | 'nodeSynced' | 'positions'>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  let warnAgainAt = 0;
  while (!signal.aborted) {
    try {
      const options = { signal, deadlineMs: DEADLINE_MS };
      const node = nodes.client;
      const info = await node.call('getServerInfo', {}, options);
      const { blueScore } = await node.call('getSinkBlueScore', {}, options);
      metrics.nodeConnected.set(1);
      metrics.nodeSynced.set(info.isSynced ? 1 : 0);
      metrics.positions.nodeIsAt(blueScore);
      if (!info.isSynced && performance.now() >= warnAgainAt) {
        warnAgainAt = performance.now() + WARN_EVERY_MS;
        const { virtualDaaScore } = info;
        log.warn({ virtualDaaScore }, 'the node says that it is not synced; following it all the same');
      }
    } catch {
      // The client logs the reason.
      metrics.nodeConnected.set(0);
      metrics.nodeSynced.set(0);
    }
    await sleep(PAUSE_MS, signal).catch(() => undefined);
  }
}
