/**
 * The node's errors are texts without codes (an English sentence each, rusty-kaspa `consensus/core/src/errors` and
 * `rpc/core/src/error.rs`). This table is the only place that reads them.
 */

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
