/**
 * Finds the rows that a cut keeps and removes beside whole generations, in the temporary tables
 * `cut_kept_…` and `cut_removed_…`.
 */
import type { ClientBase } from 'pg';
import type { CutPoint } from './cut-point.ts';

/**
 * Blue scores between which blocks are on the other side of the cut than their keys, or refer to
 * the other side.
 */
export interface Border {
  from: bigint;
  to: bigint;
}

/**
 * No block merges or refers to one below finality. The batch that reached the cut may have written
 * blocks far above it with older keys.
 */
export async function findBorder(
  client: ClientBase,
  cut: CutPoint,
  bound: number,
  finalityDepth: bigint,
): Promise<Border> {
  const { rows } = await client.query<{ top: bigint | null }>(
    'select max(blue_score) as top from chain_blocks where block_id < $1 and index > $2',
    [bound, cut.chainIndex],
  );
  return { from: cut.blueScore - finalityDepth, to: (rows[0]?.top ?? cut.blueScore) + finalityDepth };
}

export async function findBlocks(client: ClientBase, cut: CutPoint, bound: number, border: Border): Promise<void> {
  const merged = `
    select merged.id from chain_blocks c join blocks b on b.id = c.block_id
     cross join lateral unnest(b.merge_set_blues || b.merge_set_reds) merged (id)`;
  await client.query('create temporary table cut_kept_blocks (id bigint primary key) on commit drop');
  await client.query(
    `insert into cut_kept_blocks
     select merged.id from (${merged}
       where c.index > $1 and c.blue_score <= $2 and merged.id < $3) merged join blocks using (id)
     union select $4 where $4 < $3
     union select id from blocks where id > $4 and id < $3 and merging_block_id is null`,
    [cut.chainIndex, border.to, bound, cut.blockId],
  );
  await client.query('create temporary table cut_removed_blocks (id bigint primary key) on commit drop');
  await client.query(
    `insert into cut_removed_blocks
     select id from (
       ${merged} where c.index <= $1 and c.blue_score >= $2 and merged.id >= $3
       union select id from blocks where id >= $3 and id < $4 and merging_block_id is null) removed
      where id <> $4`,
    [cut.chainIndex, border.from, bound, cut.blockId],
  );
  await client.query('analyze cut_kept_blocks, cut_removed_blocks');
}

export async function findTransactions(client: ClientBase, bound: number): Promise<void> {
  await client.query('create temporary table cut_kept_transactions (id bigint primary key) on commit drop');
  await client.query(
    `insert into cut_kept_transactions
     select transaction_id from block_transactions
      where transaction_id < ${bound} and block_id >= ${bound}
        and block_id not in (select id from cut_removed_blocks)
     union
     select bt.transaction_id from cut_kept_blocks kept
       join block_transactions bt on bt.block_id = kept.id
      where bt.transaction_id < ${bound}`,
  );
  await client.query(
    'create temporary table cut_removed_transactions (id bigint primary key, transaction_id bytea) on commit drop',
  );
  await client.query(
    `insert into cut_removed_transactions
     select t.id, t.transaction_id
       from (select distinct bt.transaction_id as id from cut_removed_blocks removed
               join block_transactions bt on bt.block_id = removed.id) contained
       join transactions t on t.id = contained.id
      where t.id >= ${bound}
        and not exists (
          select from block_transactions other
           where other.transaction_id = t.id and ${stays('blocks', 'other.block_id', bound)})`,
  );
  await client.query('analyze cut_kept_transactions, cut_removed_transactions');
}

/** Removed blocks that remaining ones refer to are known by hash only. */
export async function findReferences(client: ClientBase, bound: number, border: Border): Promise<void> {
  await client.query('create temporary table cut_references (id bigint primary key) on commit drop');
  await client.query(
    `insert into cut_references
     select named.id from (
       select parent_id as id from block_parents
        where parent_id < $1 and block_id >= $1
          and block_id not in (select id from cut_removed_blocks)
       union
       select p.parent_id from cut_kept_blocks kept join block_parents p on p.block_id = kept.id
       union
       select p.parent_id from cut_removed_blocks removed
         join block_parents p on p.parent_id = removed.id
        where ${stays('blocks', 'p.block_id', bound)}
       union
       select named.id from blocks b
        cross join lateral unnest(b.selected_parent_id || b.merge_set_blues || b.merge_set_reds) named (id)
        where b.blue_score between $2 and $3 and ${stays('blocks', 'b.id', bound)}
          and named.id is not null) named
      where not ${stays('blocks', 'named.id', bound)}`,
    [bound, border.from, border.to],
  );
  await client.query('delete from pre_bootstrap_blocks where id not in (select id from cut_references)');
  await client.query(
    `insert into pre_bootstrap_blocks (id, hash) select b.id, b.hash from cut_references named
      join blocks b using (id)`,
  );
}

/**
 * Finds rows of `removed_chain_blocks` to delete: of blocks below the cut, and those that accepted
 * removed transactions. Blocks that batches add meanwhile were on the chain above the cut, so all
 * that they accepted stays.
 */
export async function findRemovedChainBlocks(
  client: ClientBase,
  { blueScore }: CutPoint,
  bound: number,
): Promise<void> {
  await client.query('create temporary table cut_removed_chain_blocks (block_id bigint primary key) on commit drop');
  await client.query(
    `insert into cut_removed_chain_blocks
     select r.block_id from removed_chain_blocks r left join blocks b on b.id = r.block_id
      where b.blue_score is null or b.blue_score <= $1
        or not ${stays('blocks', 'r.block_id', bound)}
         or exists (
           select from unnest(r.accepted_transactions) accepted (id)
             where not ${stays('transactions', 'accepted.id', bound)})`,
    [blueScore],
  );
  await client.query('analyze cut_removed_chain_blocks');
}

/**
 * Whether a block or transaction, whose key is not null, stays. `cut_kept_…` has the ones below the
 * bound, `cut_removed_…` those from the bound on. `offset 0` makes Postgres look one up by its key:
 * anybody can mine old transactions again, so that any number of them is kept.
 */
export const stays = (kind: 'blocks' | 'transactions', id: string, bound: number): string =>
  `(case when ${id} >= ${bound} then not exists (
      select from cut_removed_${kind} removed where removed.id = ${id} offset 0)
    else exists (
      select from cut_kept_${kind} kept where kept.id = ${id} offset 0) end)`;
