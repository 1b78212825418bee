/** Messages between a page and the hub that holds the stream. */
import type { ResponseBody, Schema, StreamEvent } from '@kasgres/client';

export type DagBlock = Schema<'DagBlock'>;
export type PendingTransaction = Schema<'PendingTransaction'>;

export type ChainChange = Schema<'ChainChange'>;
export type AddressChange = Schema<'AddressChange' | 'PendingAddressChange'>;
export type MempoolChange = Schema<'MempoolChange'>;

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
  /**
   * The stream begins at the sink: what was loaded before may be older, and must be loaded again.
   */
  | { type: 'begin'; sink: Sink; loaded?: ResponseBody<'get', '/v1/network'> }
  | { type: 'events'; events: StreamEvent[] }
  /** Whether the server responds. The stream connects again by itself. */
  | { type: 'connection'; isLost: boolean }
  /**
   * The server refuses what this page asks for. The stream of the other pages continues without it.
   */
  | { type: 'refused'; message: string };

export type ToHub = { type: 'state'; state: PageState } | { type: 'close' };
