/** What tests let a node do wrong, to see what its clients make of it. */
import type { AnyOp, protocol } from '@kasgres/node';

export type Fault =
  /** Every connection is closed in place of an answer. */
  | { kind: 'drop' }
  /** The answer is made and sent later. */
  | { kind: 'delay'; ms: number }
  /** Half of the answer's bytes are sent as if they were all. */
  | { kind: 'cut' }
  | { kind: 'error'; message: string }
  /** Blocks come without their bodies, as from a node that prunes or syncs. */
  | { kind: 'header-only' }
  /** The answer given to the same request before, if there was one. */
  | { kind: 'stale' };

/** Asked once for each request, in the order of arrival; `undefined`: answer as it is. */
export type FaultPlan = (op: AnyOp) => Fault | undefined;

/** Takes the bodies out of an answer's blocks. */
export function removeBodies({ payload }: protocol.KaspadResponse): void {
  if (payload.case === 'getBlockResponse' && payload.value.block !== undefined) removeBody(payload.value.block);
  if (payload.case === 'getBlocksResponse') payload.value.blocks.forEach(removeBody);
}

function removeBody(block: protocol.Block): void {
  block.transactions = [];
  if (block.verboseData === undefined) return;
  block.verboseData.transactionIds = [];
  block.verboseData.isHeaderOnly = true;
}
