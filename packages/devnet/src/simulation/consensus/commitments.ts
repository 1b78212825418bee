/**
 * The commitments of headers to the state. kaspad's commitment to accepted ids is a sequencing commitment, which only a full node can check:
 * here it is another hash of the same past. The commitment to the UTXO set is optionally the real one.
 */
import { type Hash, merkleRoot, MuHash } from '@kasgres/kaspa';
import type { Acceptance } from './acceptance.ts';
import type { Block } from './block.ts';

export interface Commitments {
  acceptedIdMerkleRoot: Hash;
  utxoCommitment: Hash;
}

/** Returns the commitments of a block with this selected parent and acceptance. */
export type CommitTo = (selectedParent: Block, acceptance: Acceptance) => Commitments;

/** The MuHash products of the UTXO set after an acceptance. Each follows from the previous one. */
const utxoProducts = new WeakMap<Acceptance, bigint>();

/** Chains the accepted ids to the selected parent's own commitment, and that to its commitment to unspent outputs. */
export function commitToIds({ header }: Block, { accepted }: Acceptance): Commitments {
  const ids = accepted.flatMap(({ block, index }) => block.transactions[index]?.transactionId ?? []);
  const acceptedIdMerkleRoot = merkleRoot([header.acceptedIdMerkleRoot, ...ids]);
  return { acceptedIdMerkleRoot, utxoCommitment: merkleRoot([header.utxoCommitment, acceptedIdMerkleRoot]) };
}

/** Commits to the MuHash of the UTXO set as kaspad does, which costs a modular division per block. */
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

function productAt(block: Block): bigint {
  if (block.height === 0) return new MuHash().product;
  const product = block.state.kind === 'qualified' ? utxoProducts.get(block.state.acceptance) : undefined;
  if (product === undefined) throw new Error(`the unspent outputs at block ${block.id} are not known`);
  return product;
}
