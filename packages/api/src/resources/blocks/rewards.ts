/** The miner and the rewards of a block, of a row `block` joined with `joinMerging`. */
import { address, addressTag, hash, hexBytes, type JsonFields, jsonObject, sompi } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { tagOfScript } from '../addresses/tags.ts';

const miner = z.object({
  address: address.nullable().meta({ description: 'Null for a non-standard script' }),
  scriptPublicKey: hexBytes.meta({ description: 'Script in hex, without its version' }),
  extraData: hexBytes.meta({ description: 'What the miner added to the payload of the coinbase' }),
  extraText: z.string().nullable().meta({
    description:
      'The same as text; null if it is not UTF-8, or contains control, bidirectional or invisible characters',
  }),
  pool: z.string().nullable().meta({
    description: 'Domain of a mining pool that the extra data names: a claim of the miner; null if it names none',
  }),
  tag: addressTag.nullable().meta({ description: 'Tag of the address, else of its cluster' }),
});

type MinerJson = z.infer<typeof miner>;

export const blockRewards = {
  miner: miner
    .nullable()
    .meta({ description: 'Who mined the block, by the payload of its coinbase; null for genesis' }),
  subsidy: sompi.nullable().meta({ description: 'What the block mints if it is merged as blue; null for genesis' }),
  fees: sompi.nullable().meta({
    description: 'Fees of the transactions that the merging block accepted from this block; null if not merged',
  }),
  redReward: sompi.nullable().meta({
    description:
      'What its own coinbase pays to its miner for the red blocks that it merges; "0" if it is not on the chain; null if not merged, or if it merges red blocks that are not indexed',
  }),
  reward: sompi.nullable().meta({
    description:
      'What its miner gets: subsidy, fees and `redReward` of a blue block; "0" for a red one, whose subsidy and fees go to the miner of the merging block; null if not merged',
  }),
  rewardTransactionId: hash.nullable().meta({
    description:
      'The coinbase of the merging block, which pays the reward once the next chain block accepts it; null if not merged',
  }),
};

type Rewards = { [Name in keyof typeof blockRewards]: z.infer<(typeof blockRewards)[Name]> };

const selectMiner: RawBuilder<MinerJson | null> = sql`(
  select ${jsonObject<MinerJson>({
    address: sql`script.address`,
    scriptPublicKey: sql`encode(script.script, 'hex')`,
    extraData: sql`encode(mined.extra, 'hex')`,
    extraText: sql`text_of(mined.extra)`,
    pool: sql`pool_of(mined.extra)`,
    tag: tagOfScript(sql`script.address`, sql`script.id`),
  })}
  from (
    select extra_data_of(coinbase.payload) as extra
    from block_transactions contained
      join transactions coinbase on coinbase.id = contained.transaction_id
    where contained.block_id = block.id and contained.index = 0 offset 0
  ) mined
  join scripts script on script.id = block.miner_script_id)`;

/**
 * Joins `merged`: what the block earns in the mergeset of its merging block, and `reds`: what it is
 * paid for reds.
 */
export const joinRewards = (windowBlueScores: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  left join lateral (
    select subsidy, fees, is_blue, is_rewarded
      from mergeset_rewards(block.merging_block_id, ${windowBlueScores}) earned
    where earned.block_id = block.id
  ) merged on block.selected_parent_id is not null
  left join lateral (
    select count(*) filter (where not is_blue) = cardinality(block.merge_set_reds) as are_known,
      coalesce(sum(case when is_rewarded then subsidy + fees
        else fees end) filter (where not is_blue), 0) as amount
    from mergeset_rewards(block.id, ${windowBlueScores})
  ) reds on block.is_chain_block`;

const redReward = sql`case when not block.is_chain_block then 0 when reds.are_known then reds.amount end`;

export const rewardFields: JsonFields<Rewards> = {
  miner: selectMiner,
  subsidy: sql`block.subsidy::text`,
  fees: sql`merged.fees::text`,
  redReward: sql`(case when merged.fees is not null then ${redReward} end)::text`,
  reward: sql`(case when merged.is_blue then case when merged.is_rewarded
    then merged.subsidy + merged.fees else 0 end + ${redReward}
    when not merged.is_blue then 0 end)::text`,
  rewardTransactionId: sql`(
    select encode(coinbase.transaction_id, 'hex')
    from block_transactions contained
      join transactions coinbase on coinbase.id = contained.transaction_id
    where contained.block_id = block.merging_block_id and contained.index = 0
      and merged.fees is not null)`,
};
