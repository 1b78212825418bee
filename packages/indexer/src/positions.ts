/** Where the index and its node are, for figures that compare the two. What nobody has told yet is NaN. */
export class Positions {
  nodeBlueScore = Number.NaN;
  blueScore = Number.NaN;
  #timestampMs = Number.NaN;

  /** @param blockTimestamp of the checkpoint's block, in milliseconds; undefined: not known */
  indexIsAt(blueScore: bigint, blockTimestamp: bigint | undefined): void {
    // An update may bring nothing but blocks beside the sink.
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

  /** A quiet network makes no blocks: who has the node's sink is not behind, however old it is (as /v1/status says it). */
  lagSeconds(nowMs: number): number {
    if (this.blueScore >= this.nodeBlueScore) return 0;
    return Math.max(0, (nowMs - this.#timestampMs) / 1_000);
  }
}
