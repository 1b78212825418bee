/**
 * Whether a block is whole, and what it says of itself is true. A node that prunes or syncs can respond with the header alone or
 * with transactions left out; such a block never lands (invariant 10). What binds everything to the block's name: the header
 * hashes to it, the transactions' hashes give the header's merkle root, and each transaction hashes to its id and hash.
 */
import {
  type Crescendo,
  headerHash,
  merkleRoot,
  toHex,
  transactionHash,
  transactionHashBeforeCrescendo,
  transactionId,
} from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';

/**
 * @param crescendo of the network; a block from before it commits to its transactions without their storage masses
 * @returns what is wrong, to be read after the block's name; undefined when the block is whole
 */
export function findFault(block: RpcBlock, crescendo?: Crescendo): string | undefined {
  if (block.isHeaderOnly) return 'has only its header';
  if (block.transactions.length === 0) return 'has no transactions';
  if (!sameBytes(headerHash(block.header), block.hash)) return 'has a header that does not hash to its name';
  const isBeforeCrescendo = crescendo !== undefined && block.header.daaScore < crescendo.activationDaaScore;
  const root = merkleRoot(
    block.transactions.map((transaction) =>
      isBeforeCrescendo ? transactionHashBeforeCrescendo(transaction) : transaction.hash,
    ),
  );
  if (!sameBytes(root, block.header.hashMerkleRoot)) return 'has transactions that do not give its merkle root';
  for (const transaction of block.transactions) {
    const isTrue =
      sameBytes(transactionHash(transaction), transaction.hash) &&
      sameBytes(transactionId(transaction), transaction.transactionId);
    if (!isTrue) return `has a transaction that does not hash to its name, ${toHex(transaction.transactionId)}`;
  }
  return undefined;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
