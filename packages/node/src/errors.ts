/**
 * Errors of a node, classified by the remedy. `NodeRpcError` is an error response of the node,
 * `NodeUnavailableError` may be retried, `NodeProtocolError` means that received data cannot be
 * trusted, and `NodeUnsuitableError` needs the operator. An aborted call throws the reason of its
 * signal instead.
 */
// Worker threads load this module without most of the program.
import { FatalError } from '@kasgres/runtime/run-program';

const TEXT_LENGTH = 1_000;

/** Returns the beginning of a text of a node or peer, which may be as long as a message. */
export function shortText(text: string, length = TEXT_LENGTH): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** The node responded with an error, whose text is `message`, shortened. */
export class NodeRpcError extends Error {
  override readonly name = 'NodeRpcError';
  readonly op: string;
  readonly kind: NodeRpcErrorKind;

  constructor(op: string, message: string) {
    super(shortText(message));
    this.op = op;
    this.kind = rpcErrorKind(this.message);
  }
}

/**
 * There was no response: not connected, stream lost, or deadline exceeded. The node may have
 * executed the call.
 */
export class NodeUnavailableError extends Error {
  override readonly name = 'NodeUnavailableError';
}

/** A message cannot be parsed, is too large, or does not match its request. */
export class NodeProtocolError extends Error {
  override readonly name = 'NodeProtocolError';
}

/**
 * The response to a listing is longer than this client receives. That is no failure of the node: a
 * request may have any number of entries as its response.
 */
export class NodeResponseTooLargeError extends Error {
  override readonly name = 'NodeResponseTooLargeError';
  readonly bytes: number;

  constructor(op: string, bytes: number) {
    super(`the response to ${op} has ${bytes} bytes`);
    this.bytes = bytes;
  }
}

/**
 * `other-chain`: the node lacks blocks of the index. `pruned`: it has deleted blocks that the index
 * needs. `wrong-utxo-set`: its UTXO set does not match the commitment in the header of its block.
 * `below-bootstrap`: its pruning point is not above the bootstrap block of the index.
 */
export type NodeUnsuitableReason = 'wrong-network' | 'other-chain' | 'pruned' | 'wrong-utxo-set' | 'below-bootstrap';

/**
 * The node cannot serve the index, and a retry does not help. Another node may, or the operator:
 * `message` says how.
 */
export class NodeUnsuitableError extends FatalError {
  override readonly name = 'NodeUnsuitableError';
  readonly reason: NodeUnsuitableReason;

  constructor(reason: NodeUnsuitableReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * - `unknown-block`: the node has never seen the block, or has deleted its header.
 * - `pruned`: it has deleted the data of the block that the request needs.
 * - `ibd`: it is replacing its state during the initial block download.
 * - `busy`: it rejects the block because it is not synced, or overloaded.
 * - `not-found`: the mempool lacks the transaction, or no block merges the block.
 * - `no-utxoindex`: it runs without --utxoindex.
 */
export type NodeRpcErrorKind = 'unknown-block' | 'pruned' | 'ibd' | 'busy' | 'not-found' | 'no-utxoindex' | 'other';

const kinds: readonly (readonly [RegExp, NodeRpcErrorKind])[] = [
  [/\bcannot find header\b/, 'unknown-block'],
  [/\bcannot find full block\b/, 'pruned'],
  [/\bsome data is missing for block\b/, 'pruned'],
  [/\bdoes not have retention root (on|in) its\b/, 'pruned'],
  [/\bis too deep \(before the current pruning point\)/, 'pruned'],
  [/\btransitional ibd state\b/, 'ibd'],
  [/^Block was not submitted: (node is not synced|route is full)$/, 'busy'],
  [/^Transaction [0-9a-f]{64} not found$/, 'not-found'],
  [/\bdoesn't have any merger block\b/, 'not-found'],
  [/--utxoindex argument\b/, 'no-utxoindex'],
];

export function rpcErrorKind(message: string): NodeRpcErrorKind {
  return kinds.find(([pattern]) => pattern.test(message))?.[1] ?? 'other';
}

/** The pruning point of the node has moved: restart with the UTXO set of the new one. */
export class PruningPointMovedError extends Error {
  override readonly name = 'PruningPointMovedError';
}

/** The node rejected this peer; `message` contains its reason. */
export class PeerRejectedError extends Error {
  override readonly name = 'PeerRejectedError';
}
