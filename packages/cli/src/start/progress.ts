// Lines for people on how the index does: how far, how fast, how long yet. Quiet while it is in step with the node.

import { backoff, sleep } from '@kasgres/runtime';
import { findApiStatus } from '../api-status.ts';
import type { ApiStatus } from '../api-status.ts';
import { findNodeProblem } from './node-problem.ts';

const ASK_EVERY_MS = 500;
const SAY_EVERY_MS = 5_000;
const LOOK_AFTER_EVERY_MS = 15_000;
/** On a slow machine. */
const API_STARTS_WITHIN_MS = 20_000;
/** Fewer blocks behind than this is the end of a catch-up. */
const BEHIND_BLOCKS = 200n;

interface ProgressParts {
  apiUrl: string;
  /** Where the log of the API is. */
  apiLog: string;
  nodeUrls: readonly string[];
  say: (line: string) => void;
  signal: AbortSignal;
}

/** Waits until there is a chain to ask about, or, with `everything`, until no request is refused for being too early. */
export async function waitUntilUsable(
  parts: ProgressParts,
  { everything }: { everything: boolean },
): Promise<ApiStatus> {
  return sayProgressUntil(parts, (status) => (everything ? status.synced : status.sink !== null));
}

/** Goes on telling, for as long as `start` runs. Ends by being aborted. */
export async function followIndex(parts: ProgressParts, status: ApiStatus): Promise<never> {
  let isInStep = status.synced;
  for (;;) {
    if (!isInStep) {
      await sayProgressUntil(parts, (status) => status.synced);
      parts.say('In step with the node.');
    }
    await sleep(LOOK_AFTER_EVERY_MS, parts.signal);
    isInStep = (await findApiStatus(parts.apiUrl))?.synced ?? true;
  }
}

async function sayProgressUntil(parts: ProgressParts, isEnough: (status: ApiStatus) => boolean): Promise<ApiStatus> {
  const { apiUrl, say, signal } = parts;
  const begunAt = performance.now();
  const rate = new Rate();
  const reminder = new Reminder();
  let said = '';
  let saidAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const status = await findApiStatus(apiUrl);
    if (status !== undefined) {
      if (isEnough(status)) return status;
      rate.add(status);
    }
    if (performance.now() - saidAt > SAY_EVERY_MS) {
      saidAt = performance.now();
      const isStarting = status === undefined && performance.now() - begunAt < API_STARTS_WITHIN_MS;
      const waiting = isStarting ? undefined : await waitingLine(status, parts);
      if (waiting !== undefined) {
        if (reminder.isDue(waiting)) say(waiting);
      } else if (status !== undefined) {
        const line = progressLine(status, rate.blocksPerSecond);
        if (line !== said) say(line);
        said = line;
      }
    }
    await sleep(ASK_EVERY_MS, signal);
  }
}

/** What the index waits for: its address, the reason and what to do; undefined while the index moves. */
async function waitingLine(status: ApiStatus | undefined, parts: ProgressParts): Promise<string | undefined> {
  const { apiUrl, apiLog, nodeUrls } = parts;
  if (status === undefined) return `Waiting for the API at ${apiUrl}: it does not respond. Its log is ${apiLog}.`;
  if (!isWaitingForNode(status)) return undefined;
  const problems = await Promise.all(nodeUrls.map((url) => findNodeProblem(url, status.network ?? undefined)));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length < nodeUrls.length) return undefined;
  return `Waiting for the node at ${found.map(({ text }) => text).join(' Or for ')}`;
}

/** A node that is not synced itself is waited for only once everything that it has is indexed. */
function isWaitingForNode(status: ApiStatus): boolean {
  if (status.utxoSetLoad !== null) return false;
  if (status.nodeSinkBlueScore === null) return true;
  return status.nodeSynced === false && blocksLeft(status) < BEHIND_BLOCKS;
}

/** Says the same thing again after growing pauses, and a new one at once. */
export class Reminder {
  readonly #now: () => number;
  #line = '';
  #dueAt = 0;
  #pauses = reminderPauses();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  isDue(line: string): boolean {
    if (line !== this.#line) {
      this.#pauses = reminderPauses();
      this.#line = line;
    } else if (this.#now() < this.#dueAt) {
      return false;
    }
    this.#dueAt = this.#now() + this.#pauses.next().value;
    return true;
  }
}

function reminderPauses(): Iterator<number, number> {
  return backoff({ firstMs: 30_000, maxMs: 600_000, random: () => 1 });
}

/** A line on an index that is not in step with the node. */
export function progressLine(status: ApiStatus, blocksPerSecond: number): string {
  if (status.utxoSetLoad !== null) {
    return `Loading the UTXO set of the node's pruning point: ${status.utxoSetLoad.utxoCount.toLocaleString('en')} UTXOs.`;
  }
  if (status.nodeSinkBlueScore === null) return 'Waiting for the node to respond.';
  const start = startOf(status);
  const target = BigInt(status.nodeSinkBlueScore) - start;
  const done = BigInt(status.sinkBlueScore ?? start) - start;
  const left = blocksLeft(status);
  if (left < BEHIND_BLOCKS) return 'Catching up: nearly there.';
  const percent = (Number((done * 1000n) / target) / 10).toFixed(1);
  const far = `Catching up: ${done.toLocaleString('en')} of ${target.toLocaleString('en')} blocks (${percent} %)`;
  if (blocksPerSecond <= 0) return `${far}.`;
  return `${far}, ${Math.round(blocksPerSecond).toLocaleString('en')} blocks/s, about ${duration(Number(left) / blocksPerSecond)} left.`;
}

/** Blocks before the start are not caught up with. */
function startOf(status: ApiStatus): bigint {
  return BigInt(status.starts.at(-1)?.blueScore ?? 0);
}

function blocksLeft(status: ApiStatus): bigint {
  return BigInt(status.nodeSinkBlueScore ?? 0) - BigInt(status.sinkBlueScore ?? startOf(status));
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
