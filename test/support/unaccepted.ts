/**
 * Blocks of transactions that a node checks in isolation only: merged beside the chain, also if
 * nothing that they spend exists.
 */
import { type DagTransaction, type SimulatedNode, withDerived } from '@kasgres/devnet';
import { NATIVE_SUBNETWORK, type Outpoint, type ScriptPublicKey } from '@kasgres/kaspa';
import { blockOn, scriptOf, siblings } from '@kasgres/devnet/testing';

interface Output {
  amount: bigint;
  scriptPublicKey: ScriptPublicKey;
}

/**
 * Returns a transaction without signatures.
 * @param payload distinguishes transactions with the same inputs and outputs
 */
export function spending(outpoints: readonly Outpoint[], outputs: readonly Output[], payload = 0): DagTransaction {
  return withDerived({
    version: 0,
    inputs: outpoints.map((previousOutpoint) => ({
      previousOutpoint,
      signatureScript: new Uint8Array(0),
      sequence: 0n,
      sigOpCount: 0,
      computeBudget: 0,
    })),
    outputs: outputs.map((output) => ({ ...output, covenant: undefined })),
    lockTime: 0n,
    subnetworkId: NATIVE_SUBNETWORK,
    gas: 0n,
    payload: Buffer.from(payload.toString()),
    storageMass: 0n,
  });
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
