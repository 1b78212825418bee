/** Checks that a block is complete and matches its hash (invariant 10): a node that prunes or syncs may return a header alone. */
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

/** Returns the predicate of a sentence about the fault. Before Crescendo, blocks commit to transactions without their storage masses. */
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
    const matches =
      sameBytes(transactionHash(transaction), transaction.hash) &&
      sameBytes(transactionId(transaction), transaction.transactionId);
    if (!matches) return `has a transaction that does not hash to its name, ${toHex(transaction.transactionId)}`;
  }
  return undefined;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
