/** The positions of the index and of its node, for metrics that compare them; NaN until known. */
export class Positions {
  nodeBlueScore = Number.NaN;
  blueScore = Number.NaN;
  #timestampMs = Number.NaN;

  /** @param blockTimestamp of the checkpoint's block, in milliseconds; undefined if unknown */
  indexIsAt(blueScore: bigint, blockTimestamp: bigint | undefined): void {
    // An update may consist of blocks beside the sink only.
    if (Number(blueScore) === this.blueScore) return;
    this.blueScore = Number(blueScore);
    this.#timestampMs = Number(blockTimestamp ?? Number.NaN);
  }

  nodeIsAt(blueScore: bigint): void {
    this.nodeBlueScore = Number(blueScore);
  }

  lagBlocks(): number {
    return Math.max(0, this.nodeBlueScore - this.blueScore);
  }

  /** Returns 0 at the node's sink, however old it is, since a quiet network mines no blocks (as in /v1/status). */
  lagSeconds(nowMs: number): number {
    if (this.blueScore >= this.nodeBlueScore) return 0;
    return Math.max(0, (nowMs - this.#timestampMs) / 1_000);
  }
}
