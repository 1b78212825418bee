/** The network's hash rate as the node estimates it (rusty-kaspa, consensus/src/processes/difficulty.rs). */

/** The extremes among the blocks of a window; timestamps in milliseconds. */
export interface HashRateWindow {
  minBlueWork: bigint;
  maxBlueWork: bigint;
  minTimestamp: bigint;
  maxTimestamp: bigint;
}

/** Hashes a second, 64 bits of them; 0 when the window is shorter than a second. */
export function networkHashesPerSecond(window: HashRateWindow): bigint {
  const seconds = (window.maxTimestamp - window.minTimestamp) / 1000n;
  if (seconds === 0n) return 0n;
  return BigInt.asUintN(64, (window.maxBlueWork - window.minBlueWork) / seconds);
}
