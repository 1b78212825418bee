/**
 * Loads whole blocks by id, in the form of the endpoints under /v1/rpc: one query for each kind of row, not for each block. Hashes of
 * pre-bootstrap blocks are in earlier_blocks.
 */
import { unpackParents } from '@kasgres/database';
import { difficultyFromBits, toHex } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { anyOf, type Db, hex, text } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import type { BlockJson } from '../../schemas/block.ts';
import type { TransactionJson } from '../../schemas/transaction.ts';
import { loadTransactions } from '../transactions/load-transactions.ts';
import { listContainedIds } from '../transactions/queries.ts';

type BlockRow = Awaited<ReturnType<typeof listBlocks>>[number];

/** Lists headers in any order. */
function listBlocks(db: Db, ids: readonly bigint[]) {
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
    ])
    .where('block.id', '=', anyOf(ids))
    .execute();
}

/** Sums up the compute mass of the first variants of the transactions in each block. */
export async function listMasses(db: Db, ids: readonly bigint[]): Promise<{ block_id: bigint; mass: string }[]> {
  return db
    .selectFrom('block_transactions as contained')
    .innerJoin('transactions', 'transactions.id', 'contained.transaction_id')
    .select(['contained.block_id', sql<string>`sum(transactions.compute_mass)`.as('mass')])
    .where('contained.block_id', '=', anyOf(ids))
    .groupBy('contained.block_id')
    .execute();
}

/** A block that is a parent or child of another, or in its mergeset; or a transaction in it. */
interface Relative {
  block_id: bigint;
  hash: string;
}

/** Lists direct parents in the order of each header. */
function listParents(db: Db, ids: readonly bigint[]): Promise<Relative[]> {
  return db
    .selectFrom('block_parents as link')
    .leftJoin('blocks as parent', 'parent.id', 'link.parent_id')
    .leftJoin('earlier_blocks as earlier', 'earlier.id', 'link.parent_id')
    .select(['link.block_id', sql<string>`encode(coalesce(parent.hash, earlier.hash), 'hex')`.as('hash')])
    .where('link.block_id', '=', anyOf(ids))
    .orderBy('link.block_id')
    .orderBy('link.index')
    .execute();
}

function listChildren(db: Db, ids: readonly bigint[]): Promise<Relative[]> {
  return db
    .selectFrom('block_parents as link')
    .innerJoin('blocks as child', 'child.id', 'link.block_id')
    .select(['link.parent_id as block_id', hex('child.hash').as('hash')])
    .where('link.parent_id', '=', anyOf(ids))
    .execute();
}

/** Lists the blues or the reds of the mergeset of each block, in the order of the node. */
async function listMergeSets(
  db: Db,
  ids: readonly bigint[],
  column: 'merge_set_blues' | 'merge_set_reds',
): Promise<Relative[]> {
  const { rows } = await sql<Relative>`
    select block.id as block_id, encode(coalesce(member.hash, earlier.hash), 'hex') as hash
    from blocks block
    cross join unnest(${sql.ref(`block.${column}`)}) with ordinality as merged (id, position)
    left join blocks member on member.id = merged.id
    left join earlier_blocks earlier on earlier.id = merged.id
    where block.id = any(${ids}::bigint[])
    order by block.id, merged.position`.execute(db);
  return rows;
}

/** Hashes and transactions of a block beside its own row. */
interface BlockRelations {
  parents: string[];
  children: string[];
  blues: string[];
  reds: string[];
  transactions: TransactionJson[] | undefined;
  /** Used only without transactions. */
  transactionIds: string[];
}

/** The node shows this hash as the selected parent of genesis. */
const ORIGIN = 'fe'.repeat(32);

function toBlock(row: BlockRow, relations: BlockRelations): BlockJson {
  const { transactions } = relations;
  return {
    header: {
      hash: row.hash,
      version: row.version,
      parentsByLevel: toParentsByLevel(relations.parents, row.parents_by_level),
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
        transactions?.map((transaction) => transaction.verboseData.transactionId) ?? relations.transactionIds,
      isHeaderOnly: false,
      blueScore: Number(row.blue_score),
      childrenHashes: relations.children,
      mergeSetBluesHashes: relations.blues,
      mergeSetRedsHashes: relations.reds,
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
  const rows = new Map((await listBlocks(db, ids)).map((row) => [row.id, row]));
  const parents = groupHashes(await listParents(db, ids));
  const children = groupHashes(await listChildren(db, ids));
  const blues = groupHashes(await listMergeSets(db, ids, 'merge_set_blues'));
  const reds = groupHashes(await listMergeSets(db, ids, 'merge_set_reds'));
  const transactions = withTransactions ? await loadTransactions({ db, slices }, rows) : undefined;
  const transactionIds = withTransactions ? undefined : groupHashes(await listContainedIds(db, ids));

  return slices.map(ids, (id) => {
    const row = rows.get(id);
    if (row === undefined) throw new Error(`block ${id} has no row`);
    return toBlock(row, {
      parents: parents(id),
      children: children(id),
      blues: blues(id),
      reds: reds(id),
      transactions: transactions && (transactions.get(id) ?? []),
      transactionIds: transactionIds?.(id) ?? [],
    });
  });
}

/** Returns a function from a block to its hashes. */
function groupHashes(rows: readonly Relative[]): (blockId: bigint) => string[] {
  const groups = Map.groupBy(rows, (row) => row.block_id);
  return (blockId) => groups.get(blockId)?.map((row) => row.hash) ?? [];
}
