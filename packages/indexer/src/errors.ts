/** What can go wrong while following the chain, by what is to be done about it. */

/** The node's responses do not fit together, or a block is not whole: asked again from the checkpoint, they will. */
export class IncompleteUpdateError extends Error {
  override readonly name = 'IncompleteUpdateError';
}

/** Somebody else moved the checkpoint: another indexer works on this database (invariant 2). */
export class CheckpointMovedError extends Error {
  override readonly name = 'CheckpointMovedError';
}

/** The node does not know the checkpoint because it is not so far yet. It will be, or another is. */
export class NodeBehindError extends Error {
  override readonly name = 'NodeBehindError';
}
