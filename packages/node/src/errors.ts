/**
 * What can go wrong with the node, by what the caller can do about it: `NodeRpcError` is the node's own refusal,
 * `NodeUnavailableError` may pass (try again), `NodeProtocolError` means that what came cannot be trusted, and
 * `NodeUnsuitableError` needs the operator. Aborting a call throws the signal's own reason instead.
 */
import { FatalError } from '@kasgres/runtime';
import { type NodeRpcErrorKind, rpcErrorKind } from './rpc-error-kind.ts';

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
