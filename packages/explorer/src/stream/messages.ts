/** Messages between a page and the hub that holds the stream. */
import type { Schema } from '@kasgres/client';

export type DagBlock = Schema<'DagBlock'>;

export interface AddedChainBlock {
  hash: string;
  selectedParentHash: string;
  blueScore: string;
  daaScore: string;
  timestamp: number;
  mergeSetBluesHashes: string[];
  mergeSetRedsHashes: string[];
}

export interface ChainChange {
  /** From the top down. */
  removed: string[];
  /** From the bottom up. */
  added: AddedChainBlock[];
  isCaughtUp: boolean;
}

export interface AddressEvent {
  address: string;
  transactionId: string;
  status: 'accepted' | 'reverted' | 'confirmed' | 'pending' | 'dropped';
}

export type StreamMessage =
  | { event: 'chain'; data: ChainChange }
  | { event: 'block'; data: DagBlock }
  | { event: 'address'; data: AddressEvent };

/** What a page wants of the stream. */
export interface PageState {
  isVisible: boolean;
  apiKey: string | undefined;
  addresses: readonly string[];
}

export type FromHub =
  /** The stream begins at the sink: what was loaded before may be older, and must be loaded again. */
  { type: 'begin' } | { type: 'events'; events: StreamMessage[] } | { type: 'refused'; statusCode: number };

export type ToHub = { type: 'state'; state: PageState } | { type: 'close' };
