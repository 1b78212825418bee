/**
 * Results of the node's hot calls: blocks and transactions of `@kasgres/kaspa` with the fields that
 * only the node adds. The byte arrays of one response share a buffer, so copy those that outlive
 * the batch. Equal lists (parents of neighbouring levels) may be one object, so treat all data as
 * read-only.
 */
import type { BlueScore, Hash, Header } from '@kasgres/kaspa';
import type { RpcTransaction } from './decode-transaction.ts';

export type { RpcTransaction };

export interface RpcBlock {
  hash: Hash;
  header: Header;
  /** Empty if they were not requested, or if the node has only the header. */
  transactions: RpcTransaction[];
  difficulty: number;
  selectedParentHash: Hash;
  /** The selected parent first, then by ascending blue work. */
  mergeSetBluesHashes: Hash[];
  mergeSetRedsHashes: Hash[];
  /** In no fixed order. */
  childrenHashes: Hash[];
  /** Empty if `transactions` is not. */
  transactionIds: Hash[];
  blueScore: BlueScore;
  isHeaderOnly: boolean;
  isChainBlock: boolean;
}

export interface BlocksResponse {
  /** The low hash first. */
  blockHashes: Hash[];
  /** In the order of `blockHashes`; empty unless requested. */
  blocks: RpcBlock[];
  /** Size of the response on the wire. */
  wireBytes: number;
}

export interface VirtualChainResponse {
  /** From the start hash down to the fork, which is excluded. */
  removedChainBlockHashes: Hash[];
  /** From the fork, which is excluded, up to the sink. */
  addedChainBlockHashes: Hash[];
  /** One entry per added chain block, in the same order; empty unless requested. */
  acceptedTransactionIds: AcceptedTransactionIds[];
  /** Size of the response on the wire. */
  wireBytes: number;
}

export interface AcceptedTransactionIds {
  acceptingBlockHash: Hash;
  /** In the order of acceptance. */
  acceptedTransactionIds: Hash[];
}
