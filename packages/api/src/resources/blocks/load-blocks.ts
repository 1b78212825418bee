/** Loads whole blocks by id, in the form of the endpoints under /v1/rpc. Hashes of pre-bootstrap blocks are in earlier_blocks. */
import { unpackParents } from '@kasgres/database';
import { difficultyFromBits, toHex } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { anyOf, type Db, hex, text } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import type { BlockJson } from '../../schemas/block.ts';
import type { TransactionJson } from '../../schemas/transaction.ts';
import { indexRows } from '../shared.ts';
import { loadTransactions } from '../transactions/load-transactions.ts';

type BlockRow = Awaited<ReturnType<typeof listBlocks>>[number];

/** Lists blocks in any order. Related hashes are joined into one text, since a row for each of them costs this process several times as much. */
function listBlocks(db: Db, ids: readonly bigint[], withTransactionIds: boolean) {
  return db
    .selectFrom('blocks as block')
    .leftJoin('blocks as selected_parent', 'selected_parent.id', 'block.selected_parent_id')
    .leftJoin('earlier_blocks as earlier_parent', 'earlier_parent.id', 'block.selected_parent_id')
    .select([
      'block.id',
      hex('block.hash').as('hash'),
      'block.version',
      'block.parents_by_level',
      hex('block.hash_merkle_root').as('hash_merkle_root'),
      hex('block.accepted_id_merkle_root').as('accepted_id_merkle_root'),
      hex('block.utxo_commitment').as('utxo_commitment'),
      text('block.timestamp').as('timestamp'),
      'block.bits',
      text('block.nonce').as('nonce'),
      text('block.daa_score').as('daa_score'),
      text('block.blue_work').as('blue_work'),
      text('block.blue_score').as('blue_score'),
      hex('block.pruning_point').as('pruning_point'),
      sql<string | null>`encode(coalesce(selected_parent.hash, earlier_parent.hash), 'hex')`.as('selected_parent_hash'),
      'block.is_chain_block',
      sql<string | null>`(
        select string_agg(encode(coalesce(parent.hash, earlier.hash), 'hex'), ',' order by link.index)
        from block_parents link
        left join blocks parent on parent.id = link.parent_id
        left join earlier_blocks earlier on earlier.id = link.parent_id
        where link.block_id = block.id)`.as('parents'),
      sql<string | null>`(
        select string_agg(encode(child.hash, 'hex'), ',')
        from block_parents link join blocks child on child.id = link.block_id
        where link.parent_id = block.id)`.as('children'),
      hashesOfMergeSet('block.merge_set_blues').as('blues'),
      hashesOfMergeSet('block.merge_set_reds').as('reds'),
    ])
    .$if(withTransactionIds, (query) =>
      query.select(
        sql<string | null>`(
          select string_agg(encode(transactions.transaction_id, 'hex'), ',' order by contained.index)
          from block_transactions contained join transactions on transactions.id = contained.transaction_id
          where contained.block_id = block.id)`.as('transaction_ids'),
      ),
    )
    .where('block.id', '=', anyOf(ids))
    .execute();
}

const hashesOfMergeSet = (column: string) => sql<string | null>`(
  select string_agg(encode(coalesce(member.hash, earlier.hash), 'hex'), ',' order by merged.position)
  from unnest(${sql.ref(column)}) with ordinality as merged (id, position)
  left join blocks member on member.id = merged.id
  left join earlier_blocks earlier on earlier.id = merged.id)`;

const splitHashes = (hashes: string | null | undefined): string[] => hashes?.split(',') ?? [];

/** The node shows this hash as the selected parent of genesis. */
const ORIGIN = 'fe'.repeat(32);

function toBlock(row: BlockRow, transactions: TransactionJson[] | undefined): BlockJson {
  return {
    header: {
      hash: row.hash,
      version: row.version,
      parentsByLevel: toParentsByLevel(splitHashes(row.parents), row.parents_by_level),
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
      transactionIds:
        transactions?.map((transaction) => transaction.verboseData.transactionId) ?? splitHashes(row.transaction_ids),
      isHeaderOnly: false,
      blueScore: Number(row.blue_score),
      childrenHashes: splitHashes(row.children),
      mergeSetBluesHashes: splitHashes(row.blues),
      mergeSetRedsHashes: splitHashes(row.reds),
      isChainBlock: row.is_chain_block,
    },
  };
}

/** Consecutive levels mostly share one list of parents, which is converted once. Genesis has no levels. */
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

/** Returns blocks in the order of the ids, with transactions or only with their ids. */
export async function loadBlocks(
  { db, slices }: Pick<Reading, 'db' | 'slices'>,
  ids: readonly bigint[],
  withTransactions: boolean,
): Promise<BlockJson[]> {
  const rows = await listBlocks(db, ids, !withTransactions);
  const rowOf = indexRows('block', rows);
  const transactions = withTransactions ? await loadTransactions({ db, slices }, rows) : undefined;
  return slices.map(ids, (id) => toBlock(rowOf(id), transactions && (transactions.get(id) ?? [])));
}
