/**
 * What stands in headers for the state. The node's commitment to accepted ids is a sequencing commitment, which only a full node can check:
 * a hash that follows as surely from the same past is in its place. The one to the unspent outputs is the real one, where that is wanted.
 */
import { type Hash, merkleRoot, MuHash } from '@kasgres/kaspa';
import type { Acceptance } from './acceptance.ts';
import type { Block } from './block.ts';

export interface Commitments {
  acceptedIdMerkleRoot: Hash;
  utxoCommitment: Hash;
}

/** What a block must commit to that accepts this on top of its selected parent. */
export type CommitTo = (selectedParent: Block, acceptance: Acceptance) => Commitments;

/** Of the unspent outputs after an acceptance: each follows from the one before. */
const utxoProducts = new WeakMap<Acceptance, bigint>();

/** Chains the accepted ids to the selected parent's own commitment, and that to its commitment to unspent outputs. */
export function commitToIds({ header }: Block, { accepted }: Acceptance): Commitments {
  const ids = accepted.flatMap(({ block, index }) => block.transactions[index]?.transactionId ?? []);
  const acceptedIdMerkleRoot = merkleRoot([header.acceptedIdMerkleRoot, ...ids]);
  return { acceptedIdMerkleRoot, utxoCommitment: merkleRoot([header.utxoCommitment, acceptedIdMerkleRoot]) };
}

/** The same, but with the MuHash of the unspent outputs as a node has it: a division of large numbers for each block. */
export function commitToUtxos(selectedParent: Block, acceptance: Acceptance): Commitments {
  const { acceptedIdMerkleRoot } = commitToIds(selectedParent, acceptance);
  const muhash = new MuHash(utxoProducts.get(acceptance) ?? productAfter(selectedParent, acceptance));
  utxoProducts.set(acceptance, muhash.product);
  return { acceptedIdMerkleRoot, utxoCommitment: muhash.commitment() };
}

function productAfter(selectedParent: Block, { diff }: Acceptance): bigint {
  const muhash = new MuHash(productAt(selectedParent));
  for (const utxo of diff.added) muhash.add(utxo);
  for (const utxo of diff.removed) muhash.remove(utxo);
  return muhash.product;
}

/** At a block that is qualified for the chain, which it is not without having committed to its own. */
function productAt(block: Block): bigint {
  if (block.height === 0) return new MuHash().product;
  const product = block.state.kind === 'qualified' ? utxoProducts.get(block.state.acceptance) : undefined;
  if (product === undefined) throw new Error(`the unspent outputs at block ${block.id} are not known`);
  return product;
}
