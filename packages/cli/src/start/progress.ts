// Lines for people on how the index does: how far, how fast, how long yet. Quiet while it is in step with the node.

import { sleep } from '@kasgres/runtime';
import { findApiStatus } from '../api-status.ts';
import type { ApiStatus } from '../api-status.ts';

const ASK_EVERY_MS = 500;
const SAY_EVERY_MS = 5_000;
const LOOK_AFTER_EVERY_MS = 15_000;
/** Fewer blocks behind than this is the end of a catch-up. */
const BEHIND_BLOCKS = 200n;

/** Waits until there is a chain to ask about, or, with `everything`, until no question is refused for being too early. */
export async function waitUntilUsable(
  apiUrl: string,
  say: (line: string) => void,
  { everything }: { everything: boolean },
  signal: AbortSignal,
): Promise<ApiStatus> {
  return sayProgressUntil(apiUrl, say, (status) => (everything ? status.synced : status.sink !== null), signal);
}

/** Goes on telling, for as long as `start` runs. Ends by being aborted. */
export async function followIndex(
  apiUrl: string,
  say: (line: string) => void,
  status: ApiStatus,
  signal: AbortSignal,
): Promise<never> {
  let isInStep = status.synced;
  for (;;) {
    if (!isInStep) {
      await sayProgressUntil(apiUrl, say, (status) => status.synced, signal);
      say('In step with the node.');
    }
    await sleep(LOOK_AFTER_EVERY_MS, signal);
    isInStep = (await findApiStatus(apiUrl))?.synced ?? true;
  }
}

async function sayProgressUntil(
  apiUrl: string,
  say: (line: string) => void,
  isEnough: (status: ApiStatus) => boolean,
  signal: AbortSignal,
): Promise<ApiStatus> {
  const rate = new Rate();
  let said = '';
  let saidAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const status = await findApiStatus(apiUrl);
    if (status !== undefined) {
      if (isEnough(status)) return status;
      rate.add(status);
      const line = progressLine(status, rate.blocksPerSecond);
      if (line !== said && performance.now() - saidAt > SAY_EVERY_MS) {
        say(line);
        said = line;
        saidAt = performance.now();
      }
    }
    await sleep(ASK_EVERY_MS, signal);
  }
}

/** A line on an index that is not in step with the node. */
export function progressLine(status: ApiStatus, blocksPerSecond: number): string {
  if (status.utxoSetLoad !== null) {
    return `Loading the UTXO set of the node's pruning point: ${status.utxoSetLoad.utxoCount.toLocaleString('en')} coins.`;
  }
  if (status.nodeSinkBlueScore === null) return 'Waiting for the node.';
  // What is before the start is nothing to catch up with.
  const start = BigInt(status.starts.at(-1)?.blueScore ?? 0);
  const target = BigInt(status.nodeSinkBlueScore) - start;
  const done = BigInt(status.sinkBlueScore ?? start) - start;
  const left = target - done;
  if (left < BEHIND_BLOCKS) return 'Catching up: nearly there.';
  const percent = (Number((done * 1000n) / target) / 10).toFixed(1);
  const far = `Catching up: ${done.toLocaleString('en')} of ${target.toLocaleString('en')} blocks (${percent} %)`;
  if (blocksPerSecond <= 0) return `${far}.`;
  return `${far}, ${Math.round(blocksPerSecond).toLocaleString('en')} blocks/s, about ${duration(Number(left) / blocksPerSecond)} left.`;
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}

/** Blue score gained per second, over the last answers. */
class Rate {
  #points: { at: number; blueScore: number }[] = [];

  add(status: ApiStatus): void {
    const blueScore = Number(status.sinkBlueScore ?? 0);
    this.#points = [...this.#points, { at: performance.now(), blueScore }].slice(-60);
  }

  get blocksPerSecond(): number {
    const first = this.#points[0];
    const last = this.#points.at(-1);
    if (first === undefined || last === undefined || last.at === first.at) return 0;
    return ((last.blueScore - first.blueScore) * 1000) / (last.at - first.at);
  }
}
