/** Faults that tests inject into a node. */
import type { AnyOp, protocol } from '@kasgres/node';

export type Fault =
  /** Every connection is closed instead of a response. */
  | { kind: 'drop' }
  /** The response is made and sent later. */
  | { kind: 'delay'; ms: number }
  /** Only the first half of the response's bytes is sent. */
  | { kind: 'cut' }
  | { kind: 'error'; message: string }
  /** Blocks have headers only, as on a node that prunes or syncs. */
  | { kind: 'header-only' }
  /** The previous response to the same request, if there was one. */
  | { kind: 'stale' };

/** Called once for each request, in the order of arrival; `undefined`: no fault. */
export type FaultPlan = (op: AnyOp) => Fault | undefined;

/** Removes the transactions from the blocks of a response. */
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
