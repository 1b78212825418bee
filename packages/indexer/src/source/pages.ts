/**
 * Fetches the bodies of a stretch of the chain. A page of getBlocks ends with a chain block, whose hash is the start of the
 * next page; asking for hashes alone finds these ends quickly, and then several full pages travel at once.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import { type BlocksResponse, decodeBlocksResponse, type NodeClient } from '@kasgres/node';
import { IncompleteUpdateError } from '../errors.ts';

/** Stream 0 is for requests; pages go over the others. */
const REQUEST_STREAM = 0;

/**
 * The most that a page can have on the wire: 251 blocks of 0.75 MB, which is one full of the smallest transactions (docs/architecture.md,
 * "Bounds"). A page under way counts as this, since nobody knows its size before it is there.
 */
export const MAX_PAGE_BYTES = 192 * 1024 * 1024;

/** The largest page over a slow line: that the node is there at all, its heartbeat tells. */
export const PAGE_DEADLINE_MS = 300_000;

export interface PageLimits {
  /** Streams that carry pages; the client has one more. */
  pageStreams: number;
  /** Bound on the pages that wait or are under way, on the wire; one page more may be under way. */
  maxBytesAhead: number;
}

interface PageRequest {
  low: Hash;
  stream: number;
}

/**
 * Pages from `low` up to the last of `chain`, in order. They wait as they came, and are decoded when they are taken: decoded, the
 * smallest transactions and outputs take many times the bytes.
 */
export async function* fetchPages(
  client: Pick<NodeClient, 'callRaw' | 'getBlocks'>,
  low: Hash,
  chain: AsyncIterable<readonly Hash[]>,
  limits: PageLimits,
  signal: AbortSignal,
  maxPageBytes = MAX_PAGE_BYTES,
): AsyncGenerator<BlocksResponse> {
  const { pageStreams, maxBytesAhead } = limits;
  const buffers = new PageBuffers(pageStreams);
  let waiting = 0;
  let bytesWaiting = 0;
  const fetchPage = async ({ low: lowHash, stream }: PageRequest): Promise<Uint8Array> => {
    const request = { lowHash: toHex(lowHash), includeBlocks: true, includeTransactions: true };
    const options = { signal, stream, deadlineMs: PAGE_DEADLINE_MS };
    const page = await client.callRaw('getBlocks', request, (body) => buffers.copy(body), options);
    waiting += 1;
    bytesWaiting += page.length;
    return page;
  };
  const width = (): number => {
    const underWay = 1 + Math.floor((maxBytesAhead - bytesWaiting) / maxPageBytes);
    return Math.min(pageStreams, waiting + underWay);
  };
  for await (const page of mapAhead(findPages(client, low, chain, limits, signal), fetchPage, width)) {
    waiting -= 1;
    bytesWaiting -= page.length;
    const decoded = decodeBlocksResponse(page);
    buffers.giveBack(page);
    yield decoded;
  }
}

/** Where each page begins. */
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
    const places = new Map(chainBlocks.map((hash, place) => [toHex(hash), place]));
    for (let reached = -1; reached < chainBlocks.length - 1; ) {
      const { blockHashes } = await client.getBlocks(
        { lowHash: low, includeBlocks: false, includeTransactions: false },
        { signal, stream: REQUEST_STREAM },
      );
      const end = lastChainBlock(blockHashes, places);
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

/** Place on the chain of the last chain block in a page. */
function lastChainBlock(hashes: readonly Hash[], places: ReadonlyMap<string, number>): number | undefined {
  for (let i = hashes.length - 1; i >= 0; i -= 1) {
    const place = places.get(toHex(hashes[i] as Hash));
    if (place !== undefined) return place;
  }
  return undefined;
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
    // Failures are met when their turn comes.
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

const STEP_BYTES = 4 * 1024 * 1024;
/** A buffer larger than this is not kept for another page. */
const KEPT_BYTES = 32 * 1024 * 1024;

export class PageBuffers {
  readonly #count: number;
  #free: Buffer[] = [];

  /** @param count how many to keep */
  constructor(count: number) {
    this.#count = count;
  }

  /** A copy in a buffer of its own, until that is given back. */
  copy(bytes: Uint8Array): Uint8Array {
    const place = this.#free.findIndex(({ length }) => length >= bytes.length);
    const found = place < 0 ? undefined : this.#free.splice(place, 1)[0];
    const buffer = found ?? Buffer.allocUnsafeSlow(Math.ceil(Math.max(bytes.length, 1) / STEP_BYTES) * STEP_BYTES);
    buffer.set(bytes);
    return buffer.subarray(0, bytes.length);
  }

  /** What was copied is gone from now on. */
  giveBack(copy: Uint8Array): void {
    const buffer = Buffer.from(copy.buffer);
    if (buffer.length > KEPT_BYTES) return;
    // The largest are kept: they do for all.
    this.#free = [...this.#free, buffer].sort((a, b) => b.length - a.length).slice(0, this.#count);
  }
}
