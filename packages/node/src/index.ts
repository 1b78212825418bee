/**
 * A gRPC client of kaspad. `protocol` contains the generated messages, for code that creates or
 * serves them.
 */
export type { AnyOp, Notification, NotificationOf, Op, RequestOf, ResponseOf, Topic } from './calls.ts';
export { checkNode, type NodeStatus } from './check-node.ts';
export { decodeBlockResponse, decodeBlocksResponse, decodeVirtualChainResponse } from './decode-responses.ts';
export {
  NodeProtocolError,
  NodeResponseTooLargeError,
  NodeRpcError,
  type NodeRpcErrorKind,
  NodeUnavailableError,
  NodeUnsuitableError,
  type NodeUnsuitableReason,
  PeerRejectedError,
  PruningPointMovedError,
} from './errors.ts';
export * as protocol from './generated/kaspad_pb.ts';
export * as p2pProtocol from './generated/p2p_pb.ts';
export type {
  AcceptedTransactionIds,
  BlocksResponse,
  RpcBlock,
  RpcTransaction,
  VirtualChainResponse,
} from './model.ts';
export type { ListOptions, UseListing } from './listing-connections.ts';
export type { ListedEntry, ListingOp } from './listing-reader.ts';
export { decodeEntry, encodeEntry, type PendingEntry, readEntryId, readPendingEntry } from './mempool-entry.ts';
export { PackedPairs } from './packed-pairs.ts';
export { nameOfNode, p2pUrlOf, parseNodeUrl, parseNodeUrls } from './node-address.ts';
export { type CallOptions, NodeClient, type NodeClientOptions } from './node-client.ts';
export { decodeUtxoChunk } from './p2p/decode-utxo-chunk.ts';
export { readUtxoSet, type UtxoChunk, type UtxoSetOptions } from './p2p/read-utxo-set.ts';
export type { SubscribeOptions, Subscription } from './subscriptions.ts';
export {
  toHeaderMessage,
  toOutpointMessage,
  toOutputMessage,
  toScriptMessage,
  toTransactionMessage,
} from './to-messages.ts';
