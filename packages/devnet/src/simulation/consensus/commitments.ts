/**
 * What stands in headers for the state: not the node's sequencing commitment and not its MuHash of the unspent outputs, both of which
 * only a full node can check, but hashes that follow as surely from the same past.
 */
import { type Hash, merkleRoot } from '@kasgres/kaspa';
import type { Acceptance } from './acceptance.ts';
import type { Block } from './block.ts';

export interface Commitments {
  acceptedIdMerkleRoot: Hash;
  utxoCommitment: Hash;
}

/** Chains the accepted ids to the selected parent's own commitment. */
export function commitTo({ header }: Block, { accepted }: Acceptance): Commitments {
  const ids = accepted.flatMap(({ block, index }) => block.transactions[index]?.transactionId ?? []);
  const acceptedIdMerkleRoot = merkleRoot([header.acceptedIdMerkleRoot, ...ids]);
  return { acceptedIdMerkleRoot, utxoCommitment: merkleRoot([header.utxoCommitment, acceptedIdMerkleRoot]) };
}
