/** Blocks of the DAG with their parents, as /v1/dag and streams show them. */
import { sql } from 'kysely';
import { z } from 'zod';
import type { JsonFields } from '../index-state/json.ts';
import { text } from '../index-state/sql.ts';
import { restBlock } from '../schemas/rest-block.ts';
import { address, hash } from '../schemas/values.ts';
import { hashOf, restBlockFields } from './select-blocks.ts';

export const dagBlock = restBlock
  .extend({
    parentHashes: z.array(hash).meta({ description: 'Direct parents' }),
    selectedParentHash: hash.nullable().meta({ description: 'Null for genesis' }),
    minerAddress: address.nullable().meta({ description: 'Null for genesis, and for a non-standard script' }),
  })
  .meta({ id: 'DagBlock' });

export type DagBlockJson = z.infer<typeof dagBlock>;

/** The fields of `block`, joined with `joinMerging`. */
export const dagBlockFields: JsonFields<DagBlockJson> = {
  hash: restBlockFields.hash,
  parentHashes: sql`(
    select coalesce(json_agg(parent.hash order by parent.index), '[]') from (
      select ${hashOf(sql`link.parent_id`)} as hash, link.index from block_parents link
        where link.block_id = block.id) parent)`,
  selectedParentHash: sql<string | null>`${hashOf(sql`block.selected_parent_id`)}`,
  blueScore: text('block.blue_score'),
  daaScore: text('block.daa_score'),
  timestamp: restBlockFields.timestamp,
  isChainBlock: restBlockFields.isChainBlock,
  color: restBlockFields.color,
  mergingBlockHash: restBlockFields.mergingBlockHash,
  transactionCount: restBlockFields.transactionCount,
  minerAddress: sql<string | null>`(select address from scripts where id = block.miner_script_id)`,
};
