/**
 * The node's responses contradict each other or a block is incomplete; a retry from the checkpoint
 * usually succeeds.
 */
export class IncompleteUpdateError extends Error {
  override readonly name = 'IncompleteUpdateError';
}

/** Another indexer works on this database (invariant 2). */
export class CheckpointMovedError extends Error {
  override readonly name = 'CheckpointMovedError';
}

/** The node does not know the checkpoint yet. */
export class NodeBehindError extends Error {
  override readonly name = 'NodeBehindError';
}
