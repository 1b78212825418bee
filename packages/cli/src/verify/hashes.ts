/**
 * Invariant 8: transaction ids and hashes, merkle roots and block hashes recomputed from stored rows equal the stored ones, and so do types and
 * addresses of scripts.
 */
import { computeMass, headerHash, merkleRoot, toHex, transactionHash, transactionId } from '@kasgres/kaspa';
import type { Queryable } from '@kasgres/state';
import { checkScripts } from './scripts.ts';
import { EVERYTHING, type From } from './since.ts';
import { storedBlocks } from './stored-blocks.ts';
import { storedTransactions } from './stored-transactions.ts';

const MOST_FAULTS = 20;

/** What is wrong, one sentence each; empty when the invariant holds. */
export async function checkInvariant8(db: Queryable): Promise<string[]> {
  return [...(await checkTransactions(db)), ...(await checkBlocks(db)), ...(await checkScripts(db))];
}

/** Returns what is wrong, one sentence each (the first 20 or so). */
export async function checkTransactions(db: Queryable, from: From = EVERYTHING): Promise<string[]> {
  const wrong: string[] = [];
  for await (const stored of storedTransactions(db, from)) {
    if (wrong.length >= MOST_FAULTS) break;
    const name = `transaction ${toHex(stored.transactionId)}, body ${stored.body}`;
    const { transaction } = stored;
    if (!equal(transactionId(transaction), stored.transactionId)) wrong.push(`${name}: another id comes from its rows`);
    if (!equal(transactionHash(transaction), stored.hash)) wrong.push(`${name}: another hash comes from its rows`);
    if (computeMass(transaction) !== stored.computeMass)
      wrong.push(`${name}: another compute mass comes from its rows`);
  }
  return wrong;
}

/** Returns what is wrong, one sentence each (the first 20 or so). */
export async function checkBlocks(db: Queryable, from: From = EVERYTHING): Promise<string[]> {
  const wrong: string[] = [];
  for await (const { hash, header, merkleLeaves } of storedBlocks(db, from)) {
    if (wrong.length >= MOST_FAULTS) break;
    const name = `block ${toHex(hash)}`;
    if (!equal(headerHash(header), hash)) wrong.push(`${name}: another hash comes from its rows`);
    const leaves = merkleLeaves.filter((leaf) => leaf !== null);
    if (leaves.length !== merkleLeaves.length) wrong.push(`${name}: it carries a body that is not stored`);
    else if (!equal(merkleRoot(leaves), header.hashMerkleRoot))
      wrong.push(`${name}: another merkle root comes from its rows`);
  }
  return wrong;
}

function equal(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
