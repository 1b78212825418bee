/**
 * A page of getBlocks ends with a chain block, which begins the next page. Requests for hashes
 * alone find these ends, so pages load in parallel.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import { type BlocksResponse, decodeBlocksResponse, type NodeClient } from '@kasgres/node';
import { IncompleteUpdateError } from '../errors.ts';
import type { Faults } from './check-page.worker.ts';

const REQUEST_STREAM = 0;

/**
 * 251 blocks of 0.75 MB (docs/architecture.md, "Bounds"). A page in transit counts as this, since
 * its size is unknown.
 */
export const MAX_PAGE_BYTES = 192 * 1024 * 1024;

/**
 * Enough for the largest page over a slow line. The heartbeat detects a dead connection earlier.
 */
export const PAGE_DEADLINE_MS = 300_000;

export interface PageLimits {
  /** Streams for pages; the client has one more. */
  pageStreams: number;
  /** Bound on the encoded pages that are pending or in transit; one more page may be in transit. */
  maxBytesAhead: number;
}

interface PendingPage {
  page: Uint8Array;
  checked: Promise<Faults | undefined> | undefined;
}

interface PageRequest {
  low: Hash;
  stream: number;
}

export interface PageOptions {
  maxPageBytes?: number;
  /**
   * Checks a page in shared memory while it is pending. Returns undefined for a page that is to be
   * checked later.
   */
  check?: (page: Uint8Array) => Promise<Faults> | undefined;
}

/**
 * Yields the pages from `low` up to the last of `chain`. Pending pages stay encoded, since decoded
 * ones take many times the memory.
 */
export async function* fetchPages(
  client: Pick<NodeClient, 'callRaw' | 'getBlocks'>,
  low: Hash,
  chain: AsyncIterable<readonly Hash[]>,
  limits: PageLimits,
  signal: AbortSignal,
  { maxPageBytes = MAX_PAGE_BYTES, check }: PageOptions = {},
): AsyncGenerator<BlocksResponse & { faults: Faults | undefined }> {
  const { pageStreams, maxBytesAhead } = limits;
  const buffers = new PageBuffers(pageStreams);
  let pending = 0;
  let pendingBytes = 0;
  const fetchPage = async ({ low: lowHash, stream }: PageRequest): Promise<PendingPage> => {
    const request = { lowHash: toHex(lowHash), includeBlocks: true, includeTransactions: true };
    const options = { signal, stream, deadlineMs: PAGE_DEADLINE_MS };
    const page = await client.callRaw('getBlocks', request, (body) => buffers.copy(body), options);
    pending += 1;
    pendingBytes += page.length;
    const checking = isShared(page) ? check?.(page) : undefined;
    // After a failure of the check, the blocks are checked when they are taken.
    return { page, checked: checking?.catch(() => undefined) };
  };
  const width = (): number => {
    const inTransit = 1 + Math.floor((maxBytesAhead - pendingBytes) / maxPageBytes);
    return Math.min(pageStreams, pending + inTransit);
  };
  for await (const { page, checked } of mapAhead(findPages(client, low, chain, limits, signal), fetchPage, width)) {
    pending -= 1;
    pendingBytes -= page.length;
    const decoded = decodeBlocksResponse(page);
    const faults = await checked;
    buffers.giveBack(page);
    yield { ...decoded, faults };
  }
}

async function* findPages(
  client: Pick<NodeClient, 'getBlocks'>,
  start: Hash,
  chain: AsyncIterable<readonly Hash[]>,
  limits: PageLimits,
  signal: AbortSignal,
): AsyncGenerator<PageRequest> {
  let low = start;
  let pages = 0;
  for await (const chainBlocks of chain) {
    const positions = new Map(chainBlocks.map((hash, position) => [toHex(hash), position]));
    for (let reached = -1; reached < chainBlocks.length - 1; ) {
      const { blockHashes } = await client.getBlocks(
        { lowHash: low, includeBlocks: false, includeTransactions: false },
        { signal, stream: REQUEST_STREAM },
      );
      const end = lastChainBlock(blockHashes, positions);
      if (end === undefined || end <= reached) {
        throw new IncompleteUpdateError(`the page of blocks after ${toHex(low)} does not follow the chain`);
      }
      pages += 1;
      yield { low, stream: 1 + (pages % limits.pageStreams) };
      reached = end;
      low = chainBlocks[end] as Hash;
    }
  }
}

function lastChainBlock(hashes: readonly Hash[], positions: ReadonlyMap<string, number>): number | undefined {
  const last = hashes.findLast((hash) => positions.has(toHex(hash)));
  return last && positions.get(toHex(last));
}

export async function* mapAhead<Item, Result>(
  items: AsyncIterable<Item>,
  map: (item: Item) => Promise<Result>,
  width: () => number,
): AsyncGenerator<Result> {
  const iterator = items[Symbol.asyncIterator]();
  const ahead: Promise<{ result: Result } | undefined>[] = [];
  const startOne = (): void => {
    const next = iterator
      .next()
      .then(async ({ done, value }) => (done === true ? undefined : { result: await map(value) }));
    // A rejection is handled where the result is awaited.
    next.catch(() => undefined);
    ahead.push(next);
  };
  try {
    for (;;) {
      while (ahead.length < Math.max(1, width())) startOne();
      const first = await ahead.shift();
      if (first === undefined) return;
      yield first.result;
    }
  } finally {
    await iterator.return?.();
  }
}

const isShared = ({ buffer }: Uint8Array): boolean => buffer instanceof SharedArrayBuffer;

const STEP_BYTES = 4 * 1024 * 1024;
const KEPT_BYTES = 32 * 1024 * 1024;

/**
 * Copies of pages, in buffers that are used again. Those up to KEPT_BYTES are in memory that
 * threads share. Larger ones are not, since V8 does not count shared memory when it decides whether
 * to collect garbage.
 */
export class PageBuffers {
  readonly #count: number;
  #free: Buffer[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  copy(bytes: Uint8Array): Uint8Array {
    const index = this.#free.findIndex(({ length }) => length >= bytes.length);
    const found = index < 0 ? undefined : this.#free.splice(index, 1)[0];
    const size = Math.ceil(Math.max(bytes.length, 1) / STEP_BYTES) * STEP_BYTES;
    const buffer =
      found ?? (size > KEPT_BYTES ? Buffer.allocUnsafeSlow(size) : Buffer.from(new SharedArrayBuffer(size)));
    buffer.set(bytes);
    return buffer.subarray(0, bytes.length);
  }

  giveBack(copy: Uint8Array): void {
    const buffer = Buffer.from(copy.buffer);
    if (buffer.length > KEPT_BYTES) return;
    // The largest buffers fit every page.
    this.#free = [...this.#free, buffer].sort((a, b) => b.length - a.length).slice(0, this.#count);
  }
}
