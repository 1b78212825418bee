/**
 * What the hot calls of the node return. Blocks and transactions are the model of `@kasgres/kaspa` plus what only the node
 * says of them. The byte arrays of one response share one buffer: copy what is to outlive the batch. Equal lists (the parents of
 * neighbouring levels) and frequent values (the native subnetwork) may be one object: treat all of it as read-only.
 */
import type { Hash, Header } from '@kasgres/kaspa';
import type { RpcTransaction } from './decode-transaction.ts';

export type { RpcTransaction };

export interface RpcBlock {
  hash: Hash;
  header: Header;
  /** Empty when they were not asked for, or when the node has only the header. */
  transactions: RpcTransaction[];
  difficulty: number;
  selectedParentHash: Hash;
  /** The selected parent first, then by ascending blue work. */
  mergeSetBluesHashes: Hash[];
  mergeSetRedsHashes: Hash[];
  /** In no fixed order. */
  childrenHashes: Hash[];
  /** Only of a block without transactions: where these are included, their own ids speak. */
  transactionIds: Hash[];
  blueScore: bigint;
  isHeaderOnly: boolean;
  isChainBlock: boolean;
}

export interface BlocksResponse {
  /** The low hash first. */
  blockHashes: Hash[];
  /** In the order of `blockHashes`; empty unless asked for. */
  blocks: RpcBlock[];
  /** Size of the response on the wire. */
  wireBytes: number;
}

export interface VirtualChainResponse {
  /** From the start hash down to the chain, which it excludes. */
  removedChainBlockHashes: Hash[];
  /** From the chain, which it excludes, up to the sink. */
  addedChainBlockHashes: Hash[];
  /** One entry an added chain block, in the same order; empty unless asked for. */
  acceptedTransactionIds: AcceptedTransactionIds[];
  /** Size of the response on the wire. */
  wireBytes: number;
}

export interface AcceptedTransactionIds {
  acceptingBlockHash: Hash;
  /** In the order of acceptance. */
  acceptedTransactionIds: Hash[];
}
