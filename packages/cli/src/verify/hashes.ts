/** Invariant 8: transaction ids and hashes, merkle roots and block hashes recomputed from stored rows equal the stored ones. */
import { computeMass, headerHash, merkleRoot, toHex, transactionHash, transactionId } from '@kasgres/kaspa';
import type { Queryable } from './queryable.ts';
import { storedBlocks } from './stored-blocks.ts';
import { storedTransactions } from './stored-transactions.ts';

/** What is wrong, one sentence each; empty when the invariant holds. */
export async function checkInvariant8(db: Queryable): Promise<string[]> {
  return [...(await wrongTransactions(db)), ...(await wrongBlocks(db))];
}

async function wrongTransactions(db: Queryable): Promise<string[]> {
  const wrong: string[] = [];
  for await (const stored of storedTransactions(db)) {
    const name = `transaction ${toHex(stored.transactionId)}, body ${stored.body}`;
    const { transaction } = stored;
    if (!equal(transactionId(transaction), stored.transactionId)) wrong.push(`${name}: another id comes from its rows`);
    if (!equal(transactionHash(transaction), stored.hash)) wrong.push(`${name}: another hash comes from its rows`);
    if (computeMass(transaction) !== stored.computeMass)
      wrong.push(`${name}: another compute mass comes from its rows`);
  }
  return wrong;
}

async function wrongBlocks(db: Queryable): Promise<string[]> {
  const wrong: string[] = [];
  for await (const { hash, header, transactionHashes } of storedBlocks(db)) {
    const name = `block ${toHex(hash)}`;
    if (!equal(headerHash(header), hash)) wrong.push(`${name}: another hash comes from its rows`);
    const leaves = transactionHashes.filter((leaf) => leaf !== null);
    if (leaves.length !== transactionHashes.length) wrong.push(`${name}: it carries a body that is not stored`);
    else if (!equal(merkleRoot(leaves), header.hashMerkleRoot))
      wrong.push(`${name}: another merkle root comes from its rows`);
  }
  return wrong;
}

function equal(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
