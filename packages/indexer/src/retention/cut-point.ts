/**
 * Where the chain can be cut: at the first chain block of a generation, when everything before it
 * is older than `RETENTION`.
 */
import type { ChainTime } from '@kasgres/database';
import type { Hash, Network } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { Retention } from './retention.ts';

/** An hour or more of a public network. */
const PACE_CHAIN_BLOCKS = 10_000;

/** The chain block that becomes the first one, as if the index had been bootstrapped there. */
export interface CutPoint {
  generation: number;
  /** chain_blocks.index. */
  chainIndex: number;
  blockId: number;
  hash: Hash;
  blueScore: bigint;
  chainTime: ChainTime;
  utxoCommitment: Hash;
  /** chain_blocks.index of the latest bootstrap block. */
  bootstrapIndex: number;
}

/**
 * Returns the highest possible one. It is above the latest bootstrap block, so that a gap stays
 * until it is as old; everything up to it is clustered, since that needs its transactions; and it
 * is so deep that no node would reorganise it.
 */
export async function findCutPoint(
  client: ClientBase,
  retention: Retention,
  { pruningDepth }: Pick<Network, 'pruningDepth'>,
): Promise<CutPoint | undefined> {
  const { rows } = await client.query<CutPoint>(
    `select g.generation, c.index::float8 as "chainIndex", c.block_id::float8 as "blockId", c.hash,
            c.blue_score as "blueScore", c.chain_time as "chainTime",
            b.utxo_commitment as "utxoCommitment", latest.chain_index::float8 as "bootstrapIndex"
       from checkpoint p
       join chain_blocks sink on sink.index = p.chain_index
       join clustering on true
      cross join (select max(chain_index) as chain_index from bootstrap_blocks) latest
       join generations g on g.first_index > latest.chain_index
         and g.first_index <= clustering.chain_index
       join chain_blocks c on c.index = g.first_index
       join blocks b on b.id = c.block_id
      where not p.first_catch_up and sink.blue_score - c.blue_score >= $1
        and sink.chain_time - c.chain_time >= $2
      order by g.generation desc limit 1`,
    [
      retention.kind === 'blue score' && retention.blueScore > pruningDepth ? retention.blueScore : pruningDepth,
      retention.kind === 'milliseconds' ? retention.milliseconds : 0n,
    ],
  );
  return rows[0];
}

/**
 * Returns how much blue score and time a chain block of late added, on average; undefined for a
 * chain of less than two.
 */
export async function findPace(client: ClientBase): Promise<{ blueScore: number; milliseconds: number } | undefined> {
  const { rows } = await client.query<{ blueScore: number; milliseconds: number }>(
    `select (top.blue_score - c.blue_score) / (top.index - c.index)::float8 as "blueScore",
            (top.chain_time - c.chain_time) / (top.index - c.index)::float8 as milliseconds
       from checkpoint p
       join chain_blocks top on top.index = p.chain_index
       join chain_blocks c on c.index = greatest(top.index - ${PACE_CHAIN_BLOCKS},
         (select min(index) from chain_blocks))
      where c.index < top.index`,
  );
  return rows[0];
}
