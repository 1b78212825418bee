/** Messages between a page and the hub that holds the stream. */
import type { ResponseBody, Schema } from '@kasgres/client';

export type DagBlock = Schema<'DagBlock'>;
export type PendingTransaction = Schema<'PendingTransaction'>;

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

/** After connecting, one snapshot of the whole mempool comes first. */
export type MempoolChange =
  | { available: false }
  | { available?: true; added: PendingTransaction[]; removed: string[]; isSnapshot: boolean };

export type StreamMessage =
  | { event: 'chain'; data: ChainChange }
  | { event: 'block'; data: DagBlock }
  | { event: 'address'; data: AddressEvent }
  | { event: 'mempool'; data: MempoolChange };

/** The subscription of a page. */
export interface PageState {
  isVisible: boolean;
  apiKey: string | undefined;
  addresses: readonly string[];
  wantsMempool: boolean;
}

/** The sink when the stream began. */
export type Sink = Pick<ResponseBody<'get', '/v1/network'>, 'network' | 'sink' | 'blueScore' | 'timestamp'>;

export type FromHub =
  /** The stream begins at the sink: what was loaded before may be older, and must be loaded again. */
  | { type: 'begin'; sink: Sink; loaded?: ResponseBody<'get', '/v1/network'> }
  | { type: 'events'; events: StreamMessage[] }
  /** Whether the server responds. The stream connects again by itself. */
  | { type: 'connection'; isLost: boolean }
  /** The server refuses what this page asks for. The stream of the other pages continues without it. */
  | { type: 'refused'; message: string };

export type ToHub = { type: 'state'; state: PageState } | { type: 'close' };
