/**
 * Selects blocks as JSON: whole ones in the form of the endpoints under /v1/rpc, and those of
 * listings.
 */
import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { type JsonFields, jsonArray, jsonObject } from '../index-state/json.ts';
import { hex, hexOrNull, text } from '../index-state/sql.ts';
import type { BlockJson } from '../schemas/block.ts';
import { containedTransactions } from './select-contained.ts';
import type { restBlock } from '../schemas/rest-block.ts';

/** The node shows this hash as the selected parent of genesis. */
const ORIGIN = 'fe'.repeat(32);

/** Selects the hash of a block, which may be pre-bootstrap. */
export const hashOf = (id: RawBuilder<unknown>): RawBuilder<string> =>
  sql`encode(coalesce((select hash from blocks where id = ${id}), pre_bootstrap_block_hash(${id})), 'hex')`;

const hashesOfMergeSet = (column: string): RawBuilder<string[]> =>
  jsonArray(
    hashOf(sql`merged.id`),
    sql`from unnest(${sql.ref(column)}) with ordinality as merged (id, position) order by merged.position`,
  );

/** Genesis has no levels. The first one has the direct parents, and the others are packed. */
const parentsByLevel: RawBuilder<string[][]> = sql`(
  select case when count(*) = 0 then '[]' else
    '[["' || string_agg(parent.hash, '","'
      order by parent.index) || '"]' || unpack_parents(block.parents_by_level) || ']' end
  from (select ${hashOf(sql`link.parent_id`)} as hash, link.index from block_parents link
    where link.block_id = block.id) parent)::json`;

/** The difficulty as the node computes it, of a row `block`. */
export const difficultyOf: RawBuilder<number> = sql`
  5.78960446186581e76::float8 / nullif(
    case when block.bits & 16777215 <= 8388607
      then floor((block.bits & 16777215) * 256::float8 ^ ((block.bits >> 24) - 3)) end, 0)`;

const transactionIds: RawBuilder<string[]> = jsonArray(
  hex('transactions.transaction_id'),
  sql`
    from block_transactions contained
      join transactions on transactions.id = contained.transaction_id
    where contained.block_id = block.id order by contained.index`,
);

const childrenHashes: RawBuilder<string[]> = jsonArray(
  hex('child.hash'),
  sql`from block_parents link join blocks child on child.id = link.block_id where link.parent_id = block.id`,
);

/** The fields of a row `block` of the table `blocks`. */
export const blockFields = (includeTransactions: boolean): JsonFields<BlockJson> => ({
  header: jsonObject<BlockJson['header']>({
    hash: hex('block.hash'),
    version: sql`block.version`,
    parentsByLevel,
    hashMerkleRoot: hex('block.hash_merkle_root'),
    acceptedIdMerkleRoot: hex('block.accepted_id_merkle_root'),
    utxoCommitment: hex('block.utxo_commitment'),
    timestamp: text('block.timestamp'),
    bits: sql`block.bits`,
    nonce: text('block.nonce'),
    daaScore: text('block.daa_score'),
    blueWork: text('block.blue_work'),
    blueScore: text('block.blue_score'),
    pruningPoint: hex('block.pruning_point'),
  }),
  ...(includeTransactions && { transactions: containedTransactions }),
  verboseData: jsonObject<BlockJson['verboseData']>({
    hash: hex('block.hash'),
    difficulty: difficultyOf,
    selectedParentHash: sql`coalesce(${hashOf(sql`block.selected_parent_id`)}, ${sql.lit(ORIGIN)})`,
    transactionIds,
    isHeaderOnly: sql`false`,
    blueScore: sql`block.blue_score`,
    childrenHashes,
    mergeSetBluesHashes: hashesOfMergeSet('block.merge_set_blues'),
    mergeSetRedsHashes: hashesOfMergeSet('block.merge_set_reds'),
    isChainBlock: sql`block.is_chain_block`,
  }),
});

/** The fields of `block` in listings, joined with `joinMerging`. */
export const restBlockFields: JsonFields<z.infer<typeof restBlock>> = {
  hash: hex('block.hash'),
  blueScore: text('block.blue_score'),
  daaScore: text('block.daa_score'),
  timestamp: sql`block.timestamp`,
  isChainBlock: sql`block.is_chain_block`,
  color: sql`case when block.is_blue then 'blue' when not block.is_blue then 'red' end`,
  mergingBlockHash: hexOrNull('merging.hash'),
  transactionCount: sql`block.transaction_count`,
};

export const joinMerging = sql`left join blocks merging on merging.id = block.merging_block_id`;

/**
 * Selects the blocks of `page` in the form of listings.
 * @param items limits and orders the rows of `page`
 */
export const restBlocks = (items: RawBuilder<unknown>): RawBuilder<z.infer<typeof restBlock>[]> =>
  jsonArray(
    jsonObject(restBlockFields),
    sql`from page join blocks block on block.id = page.key ${joinMerging} ${items}`,
  );

/** Selects the blocks of `page` in the order of their positions. */
export const wholeBlocks = (includeTransactions: boolean): RawBuilder<BlockJson[]> =>
  jsonArray(
    jsonObject<BlockJson>(blockFields(includeTransactions)),
    sql`from page join blocks block on block.id = page.key order by page.position`,
  );
