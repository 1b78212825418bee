/**
 * Blocks of transactions that a node checks in isolation only: merged beside the chain, also if
 * nothing that they spend exists.
 */
import { type DagTransaction, type SimulatedNode, unsigned } from '@kasgres/devnet';
import type { Outpoint, TransactionOutput } from '@kasgres/kaspa';
import { blockOn, scriptOf, siblings } from '@kasgres/devnet/testing';

/**
 * Returns a transaction without signatures.
 * @param payload distinguishes transactions with the same inputs and outputs
 */
export function spending(
  outpoints: readonly Outpoint[],
  outputs: readonly Pick<TransactionOutput, 'amount' | 'scriptPublicKey'>[],
  payload = 0,
): DagTransaction {
  return unsigned(outpoints, outputs, Buffer.from(payload.toString()));
}

/**
 * Mines a block with these transactions, an empty one beside it, and one that merges both and has
 * the empty one as its selected parent.
 */
export function mergeBesideChain(node: SimulatedNode, transactions: readonly DagTransaction[]): void {
  const [beside, selected] = siblings(node, [transactions, []]);
  if (beside === undefined || selected === undefined) throw new Error('no sibling');
  node.receive(beside);
  node.receive(selected);
  node.receive(blockOn(node, { miner: scriptOf(1) }));
}
