/** Invariant 8: ids, hashes, merkle roots, and types and addresses of scripts recomputed from stored rows equal the stored ones. */
import { computeMass, headerHash, merkleRoot, toHex, transactionHash, transactionId } from '@kasgres/kaspa';
import type { Queryable } from '@kasgres/state';
import { checkScripts } from './scripts.ts';
import { EVERYTHING, type From } from './since.ts';
import { storedBlocks } from './stored-blocks.ts';
import { storedTransactions } from './stored-transactions.ts';

const MOST_FAULTS = 20;

export async function checkInvariant8(db: Queryable): Promise<string[]> {
  return [...(await checkTransactions(db)), ...(await checkBlocks(db)), ...(await checkScripts(db))];
}

/** Returns the faults, one sentence each (about the first 20). */
export async function checkTransactions(db: Queryable, from: From = EVERYTHING): Promise<string[]> {
  const wrong: string[] = [];
  for await (const stored of storedTransactions(db, from)) {
    if (wrong.length >= MOST_FAULTS) break;
    const name = `transaction ${toHex(stored.transactionId)}, variant ${stored.variant}`;
    const { transaction } = stored;
    if (!equal(transactionId(transaction), stored.transactionId)) wrong.push(`${name}: its rows give another id`);
    if (!equal(transactionHash(transaction), stored.hash)) wrong.push(`${name}: its rows give another hash`);
    if (computeMass(transaction) !== stored.computeMass) wrong.push(`${name}: its rows give another compute mass`);
  }
  return wrong;
}

/** Returns the faults, one sentence each (about the first 20). */
export async function checkBlocks(db: Queryable, from: From = EVERYTHING): Promise<string[]> {
  const wrong: string[] = [];
  for await (const { hash, header, merkleLeaves } of storedBlocks(db, from)) {
    if (wrong.length >= MOST_FAULTS) break;
    const name = `block ${toHex(hash)}`;
    if (!equal(headerHash(header), hash)) wrong.push(`${name}: its rows give another hash`);
    const leaves = merkleLeaves.filter((leaf) => leaf !== null);
    if (leaves.length !== merkleLeaves.length) wrong.push(`${name}: it carries a variant that is not stored`);
    else if (!equal(merkleRoot(leaves), header.hashMerkleRoot))
      wrong.push(`${name}: its rows give another merkle root`);
  }
  return wrong;
}

function equal(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
