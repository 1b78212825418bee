/**
 * What can go wrong with the node, by what the caller can do about it: `NodeRpcError` is the node's own refusal,
 * `NodeUnavailableError` may pass (try again), `NodeProtocolError` means that what came cannot be trusted, and
 * `NodeUnsuitableError` needs the operator. Aborting a call throws the signal's own reason instead.
 */
import { FatalError } from '@kasgres/runtime';

/** The node answered with an error; `message` is its text. */
export class NodeRpcError extends Error {
  override readonly name = 'NodeRpcError';
  readonly op: string;
  readonly kind: NodeRpcErrorKind;

  constructor(op: string, message: string) {
    super(message);
    this.op = op;
    this.kind = rpcErrorKind(message);
  }
}

/** No answer: not connected, the stream was cut, or the deadline passed. The call may or may not have been carried out. */
export class NodeUnavailableError extends Error {
  override readonly name = 'NodeUnavailableError';
}

/** What came does not parse, is too large, or answers another question. */
export class NodeProtocolError extends Error {
  override readonly name = 'NodeProtocolError';
}

/**
 * Why a node cannot serve us: `other-chain` has not what we have; `pruned` has no more what we need; the `wrong-utxo-set` is another
 * than the header of its block commits to.
 */
export type NodeUnsuitableReason = 'wrong-network' | 'other-chain' | 'pruned' | 'wrong-utxo-set';

/** The node cannot serve us as it is. Asking it again won't help; another node may, or the operator: `message` says how. */
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
 * - `pruned`: it has the header, and not what the request needs; or the block is older than what the node keeps.
 * - `ibd`: it is replacing its state during the initial download; wait.
 * - `busy`: it takes no block now, being not synced or overloaded; try again.
 * - `not-found`: no such transaction in the mempool, no merging block.
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

/** The node has another pruning point by now: ask it which, and begin again with that one's set. */
export class PruningPointMovedError extends Error {
  override readonly name = 'PruningPointMovedError';
}

/** The node does not want us as a peer; `message` has its reason. */
export class PeerRejectedError extends Error {
  override readonly name = 'PeerRejectedError';
}
