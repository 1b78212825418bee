/**
 * Progress of the index on the terminal: how far, how fast, how long. Nothing is printed while the
 * index is in sync with the node.
 */

import { backoff, sleep } from '@kasgres/runtime';
import { type ApiStatus, findApiStatus } from '../api-status.ts';
import { findNodeProblems } from './node-problem.ts';

const POLL_EVERY_MS = 500;
const PRINT_EVERY_MS = 5_000;
/** The rate is that of the last 30 seconds. */
const RATE_POINTS = 60;
const RECHECK_EVERY_MS = 15_000;
const API_STARTS_WITHIN_MS = 20_000;
/** A catch-up is nearly over when fewer blocks are left. */
const BEHIND_BLOCKS = 200n;

interface ProgressOptions {
  apiUrl: string;
  apiLog: string;
  nodeUrls: readonly string[];
  print: (line: string) => void;
  signal: AbortSignal;
}

/**
 * Waits until there is a block; with `everything`, until no request is refused because the index is
 * not synced.
 */
export async function waitUntilUsable(options: ProgressOptions, everything: boolean): Promise<ApiStatus> {
  return printProgressUntil(options, ({ synced, sink }) => (everything ? synced : sink !== null));
}

export async function followIndex(options: ProgressOptions, status: ApiStatus): Promise<never> {
  for (let { synced } = status; ; synced = (await findApiStatus(options.apiUrl))?.synced ?? true) {
    if (!synced) {
      await printProgressUntil(options, (status) => status.synced);
      options.print('In sync with the node.');
    }
    await sleep(RECHECK_EVERY_MS, options.signal);
  }
}

async function printProgressUntil(
  options: ProgressOptions,
  isEnough: (status: ApiStatus) => boolean,
): Promise<ApiStatus> {
  const { apiUrl, print, signal } = options;
  const startedAt = performance.now();
  const reminder = new Reminder();
  let points: { at: number; blueScore: number }[] = [];
  let lastLine = '';
  let printedAt = startedAt;
  for (;;) {
    signal.throwIfAborted();
    const status = await findApiStatus(apiUrl);
    const now = performance.now();
    if (status !== undefined) {
      if (isEnough(status)) return status;
      points = [...points, { at: now, blueScore: Number(status.sinkBlueScore ?? 0) }].slice(-RATE_POINTS);
    }
    if (now - printedAt > PRINT_EVERY_MS) {
      printedAt = now;
      const isStarting = status === undefined && now - startedAt < API_STARTS_WITHIN_MS;
      const waiting = isStarting ? undefined : await waitingLine(status, options);
      if (waiting !== undefined && reminder.admit(waiting)) print(waiting);
      if (waiting === undefined && status !== undefined) {
        const line = progressLine(status, rateOf(points));
        if (line !== lastLine) print(line);
        lastLine = line;
      }
    }
    await sleep(POLL_EVERY_MS, signal);
  }
}

/** Returns the blue score gained per second. */
function rateOf(points: readonly { at: number; blueScore: number }[]): number {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at === first.at) return 0;
  return ((last.blueScore - first.blueScore) * 1000) / (last.at - first.at);
}

/**
 * Returns why the index does not progress: an address, the reason and what to do. Undefined while
 * it does.
 */
async function waitingLine(status: ApiStatus | undefined, options: ProgressOptions): Promise<string | undefined> {
  const { apiUrl, apiLog, nodeUrls } = options;
  if (status === undefined) return `Waiting for the API at ${apiUrl}: it does not respond. Its log is ${apiLog}.`;
  if (!isWaitingForNode(status)) return undefined;
  const problems = await findNodeProblems(nodeUrls, status.network ?? undefined);
  return problems && `Waiting for the node at ${problems.map(({ message }) => message).join(' Or for ')}`;
}

/** A node that is not synced is waited for only after everything that it has is indexed. */
function isWaitingForNode(status: ApiStatus): boolean {
  if (status.utxoSetLoad !== null) return false;
  if (status.nodeSinkBlueScore === null) return true;
  return status.nodeSynced === false && blocksLeft(status) < BEHIND_BLOCKS;
}

/** Repeats the same line after growing pauses, and lets a new line through at once. */
export class Reminder {
  readonly #now: () => number;
  #line = '';
  #dueAt = 0;
  #pauses = reminderPauses();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns whether the line is to be printed now; its next pause begins then. */
  admit(line: string): boolean {
    if (line === this.#line && this.#now() < this.#dueAt) return false;
    if (line !== this.#line) this.#pauses = reminderPauses();
    this.#line = line;
    this.#dueAt = this.#now() + this.#pauses.next().value;
    return true;
  }
}

function reminderPauses(): Iterator<number, number> {
  return backoff({ firstMs: 30_000, maxMs: 600_000, random: () => 1 });
}

export function progressLine(status: ApiStatus, blocksPerSecond: number): string {
  if (status.utxoSetLoad !== null) {
    return `Loading the UTXO set of the node's pruning point: ${status.utxoSetLoad.utxoCount.toLocaleString('en')} UTXOs.`;
  }
  if (status.nodeSinkBlueScore === null) return 'Waiting for the node to respond.';
  const first = bootstrapBlueScore(status);
  const target = BigInt(status.nodeSinkBlueScore) - first;
  const done = BigInt(status.sinkBlueScore ?? first) - first;
  const left = blocksLeft(status);
  if (left < BEHIND_BLOCKS) return 'Catching up: nearly there.';
  const percent = (Number((done * 1000n) / target) / 10).toFixed(1);
  const far = `Catching up: ${done.toLocaleString('en')} of ${target.toLocaleString('en')} blocks (${percent} %)`;
  if (blocksPerSecond <= 0) return `${far}.`;
  return `${far}, ${Math.round(blocksPerSecond).toLocaleString('en')} blocks/s, about ${duration(Number(left) / blocksPerSecond)} left.`;
}

function bootstrapBlueScore(status: ApiStatus): bigint {
  return BigInt(status.starts.at(-1)?.blueScore ?? 0);
}

function blocksLeft(status: ApiStatus): bigint {
  return BigInt(status.nodeSinkBlueScore ?? 0) - BigInt(status.sinkBlueScore ?? bootstrapBlueScore(status));
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}
