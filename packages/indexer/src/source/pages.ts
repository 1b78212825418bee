/**
 * Fetches the bodies of a stretch of the chain. A page of getBlocks ends with a chain block, whose hash is the start of the
 * next page; asking for hashes alone finds these ends quickly, and then several full pages travel at once.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import type { BlocksAnswer, NodeClient } from '@kasgres/node';
import { IncompleteUpdateError } from '../errors.ts';
import { mapAhead } from './map-ahead.ts';

/** Stream 0 is for questions; pages go over the others. */
const QUESTION_STREAM = 0;

export interface PageLimits {
  /** Streams that carry pages; the client has one more. */
  pageStreams: number;
  /** Bound on the pages that are under way or wait. */
  maxBytesAhead: number;
}

interface PageRequest {
  low: Hash;
  stream: number;
}

/** Pages from `low` up to the last of `chain`, in order. */
export async function* fetchPages(
  client: NodeClient,
  low: Hash,
  chain: AsyncIterable<readonly Hash[]>,
  limits: PageLimits,
  signal: AbortSignal,
): AsyncGenerator<BlocksAnswer> {
  let largest = 0;
  const fetchPage = async ({ low: lowHash, stream }: PageRequest): Promise<BlocksAnswer> => {
    const page = await client.getBlocks(
      { lowHash, includeBlocks: true, includeTransactions: true },
      { signal, stream },
    );
    largest = Math.max(page.wireBytes, largest * 0.9);
    return page;
  };
  const width = (): number => Math.min(limits.pageStreams, Math.floor(limits.maxBytesAhead / Math.max(largest, 1)));
  yield* mapAhead(findPages(client, low, chain, limits, signal), fetchPage, width);
}

/** Where each page begins. */
async function* findPages(
  client: NodeClient,
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
        { signal, stream: QUESTION_STREAM },
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
