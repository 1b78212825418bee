/**
 * How long a bootstrap waits for the node. A pruning point lasts for one finality depth, twelve hours on the public networks, and how
 * long a node takes to move it grows with that depth too: all durations are parts of it, so that they fit networks with small depths.
 */
import type { Network } from '@kasgres/kaspa';

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
