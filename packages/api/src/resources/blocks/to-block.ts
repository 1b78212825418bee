/** From rows to a block, as the endpoints under /v1/rpc show it. */
import { unpackParents } from '@kasgres/database';
import { difficultyFromBits, toHex } from '@kasgres/kaspa';
import type { BlockJson } from '../../schemas/block.ts';
import type { TransactionJson } from '../../schemas/transaction.ts';
import type { BlockRow } from './queries.ts';

/** What belongs to a block beside its own row: hashes, and transactions when they were asked for. */
export interface BlockParts {
  parents: string[];
  children: string[];
  blues: string[];
  reds: string[];
  transactions: TransactionJson[] | undefined;
  /** Used only without transactions. */
  transactionIds: string[];
}

/** What the node shows as the selected parent of genesis. */
const ORIGIN = 'fe'.repeat(32);

export function toBlock(row: BlockRow, parts: BlockParts): BlockJson {
  const { transactions } = parts;
  return {
    header: {
      hash: row.hash,
      version: row.version,
      parentsByLevel: toParentsByLevel(parts.parents, row.parents_by_level),
      hashMerkleRoot: row.hash_merkle_root,
      acceptedIdMerkleRoot: row.accepted_id_merkle_root,
      utxoCommitment: row.utxo_commitment,
      timestamp: row.timestamp,
      bits: Number(row.bits),
      nonce: row.nonce,
      daaScore: row.daa_score,
      blueWork: row.blue_work,
      blueScore: row.blue_score,
      pruningPoint: row.pruning_point,
    },
    ...(transactions && { transactions }),
    verboseData: {
      hash: row.hash,
      difficulty: difficultyFromBits(Number(row.bits)),
      selectedParentHash: row.selected_parent_hash ?? ORIGIN,
      transactionIds: transactions?.map((transaction) => transaction.verboseData.transactionId) ?? parts.transactionIds,
      isHeaderOnly: false,
      blueScore: Number(row.blue_score),
      childrenHashes: parts.children,
      mergeSetBluesHashes: parts.blues,
      mergeSetRedsHashes: parts.reds,
      isChainBlock: row.is_chain_block,
    },
  };
}

/** Neighbouring levels mostly share one list of parents, of which the hex is made once. Genesis has no level at all. */
function toParentsByLevel(direct: string[], packedHigherLevels: Uint8Array): string[][] {
  if (direct.length === 0) return [];
  const texts = new Map<readonly Uint8Array[], string[]>();
  const higher = unpackParents(packedHigherLevels).map((parents) => {
    const known = texts.get(parents) ?? parents.map(toHex);
    texts.set(parents, known);
    return known;
  });
  return [direct, ...higher];
}
