/** What only a peer can answer; the rest of what can go wrong is that of every conversation with a node (../errors.ts). */

/** The node has another pruning point by now: ask it which, and begin again with that one's set. */
export class PruningPointMovedError extends Error {
  override readonly name = 'PruningPointMovedError';
}

/** The node does not want us as a peer; `message` has its reason. */
export class PeerRejectedError extends Error {
  override readonly name = 'PeerRejectedError';
}
