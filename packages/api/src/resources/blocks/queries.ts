/**
 * Reads whole pages of blocks: one query for each kind of row, whatever the number of blocks. What the first blocks of a part name of
 * the past before it is in earlier_blocks.
 */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { anyOf, hex, text } from '../../index-state/sql.ts';

export type BlockRow = Awaited<ReturnType<typeof listBlocks>>[number];

/** Headers and what stands in one column each, in no order. */
export function listBlocks(db: Kysely<Database>, ids: readonly bigint[]) {
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

/** What the first variants of the transactions in each block have of compute mass. */
export async function listMasses(
  db: Kysely<Database>,
  ids: readonly bigint[],
): Promise<{ block_id: bigint; mass: string }[]> {
  return db
    .selectFrom('block_transactions as contained')
    .innerJoin('transactions', 'transactions.id', 'contained.transaction_id')
    .select(['contained.block_id', sql<string>`sum(transactions.compute_mass)`.as('mass')])
    .where('contained.block_id', '=', anyOf(ids))
    .groupBy('contained.block_id')
    .execute();
}

/** A block that stands to another as its parent, its child or in its mergeset. */
export interface Relative {
  block_id: bigint;
  hash: string;
}

/** Direct parents, in the order of each header. */
export function listParents(db: Kysely<Database>, ids: readonly bigint[]): Promise<Relative[]> {
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

export function listChildren(db: Kysely<Database>, ids: readonly bigint[]): Promise<Relative[]> {
  return db
    .selectFrom('block_parents as link')
    .innerJoin('blocks as child', 'child.id', 'link.block_id')
    .select(['link.parent_id as block_id', hex('child.hash').as('hash')])
    .where('link.parent_id', '=', anyOf(ids))
    .execute();
}

/** The blues or the reds of each block's own mergeset, in the node's order. */
export async function listMergeSets(
  db: Kysely<Database>,
  ids: readonly bigint[],
  column: 'merge_set_blues' | 'merge_set_reds',
): Promise<Relative[]> {
  const { rows } = await sql<Relative>`
    select block.id as block_id, encode(coalesce(member.hash, earlier.hash), 'hex') as hash
    from blocks block
    cross join unnest(${sql.ref(`block.${column}`)}) with ordinality as merged (id, place)
    left join blocks member on member.id = merged.id
    left join earlier_blocks earlier on earlier.id = merged.id
    where block.id = any(${ids}::bigint[])
    order by block.id, merged.place`.execute(db);
  return rows;
}
