/** GET /v1/network: the network at the sink, in one response. */
import { MAX_SOMPI, type Network, type Subsidy, subsidyAt } from '@kasgres/kaspa';
import {
  count,
  decimal,
  difficultyOf,
  hash,
  type IndexState,
  jsonObject,
  type ParameterOf,
  requireCaughtUp,
  sompi,
  Statement,
  timestamp,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { lookUp } from '../shared.ts';
import { countedFrom } from './counted-from.ts';

const network = z
  .object({
    network: z.enum(['mainnet', 'testnet', 'simnet', 'devnet']),
    sink: hash,
    blueScore: decimal,
    daaScore: decimal,
    timestamp: timestamp.meta({ description: 'Time of the sink' }),
    difficulty: z.number().meta({ description: 'Of the sink' }),
    hashesPerSecond: decimal.meta({
      description: 'Work of the blocks that were merged in the latest ten whole minutes, by their time',
    }),
    lastMinute: z
      .object({
        start: timestamp,
        blocksPerSecond: z.number(),
        transactionsPerSecond: z.number().meta({ description: 'Accepted, without coinbases' }),
        feesPerSecond: sompi,
      })
      .nullable()
      .meta({ description: 'The latest whole minute of the chain; null if there is none yet' }),
    circulatingSompi: sompi,
    maxSompi: sompi.meta({
      description: 'What the node reports as its maximum supply; the sum of all subsidies is 28.7 billion KAS',
    }),
    blockReward: sompi.meta({ description: 'Subsidy of a block at the sink, without fees' }),
    nextReward: sompi.nullable().meta({ description: 'The next lower subsidy; null if there is none' }),
    nextRewardAt: timestamp.nullable().meta({ description: 'When it begins, at the target rate of blocks' }),
    countedFrom: timestamp.meta({
      description:
        'When the counts begin: the time of the first indexed chain block, or the minute of it once RETENTION has removed it',
    }),
    blockCount: decimal.meta({ description: 'Merged blocks' }),
    transactionCount: decimal.meta({ description: 'Accepted transactions without coinbases' }),
    addressCount: decimal.meta({ description: 'Addresses with a balance' }),
    mempoolSize: count.nullable().meta({ description: 'At most a second old; null while the node is unavailable' }),
  })
  .meta({ id: 'Network' });

interface Parameters {
  /** Every subsidy of the network, with the DAA score at which it begins. */
  daaScores: readonly bigint[];
  subsidies: readonly bigint[];
  targetTimeMs: number;
  mempoolSize: number | null;
}

/** Intervals of whole minutes are read from their primary key. */
const totals = new Statement('network', (parameter: ParameterOf<Parameters>) => ({
  tables: {
    sink: sql`
      select block.*, c.chain_time from checkpoint
      join blocks block on block.id = checkpoint.block_id
        join chain_blocks c on c.index = checkpoint.chain_index`,
    reward: sql`
      select * from (
        select schedule.subsidy, lead(schedule.subsidy) over by_score as next_subsidy,
          schedule.daa_score, lead(schedule.daa_score) over by_score as next_daa_score
        from unnest(${parameter('daaScores', 'bigint[]')},
          ${parameter('subsidies', 'bigint[]')}) schedule (daa_score, subsidy)
        window by_score as (order by schedule.daa_score)
      ) scheduled
      where daa_score <= (select daa_score from sink) order by daa_score desc limit 1`,
    minute: sql`
      select * from network_intervals
      where length = 'minute' and start <= (select chain_time from sink) - 60000 order by start desc
        limit 10`,
    total: sql`
      select sum(blocks)::text as blocks, sum(transactions)::text as transactions
        from network_intervals where length = 'day'`,
  },
  body: sql<z.infer<typeof network>>`(select ${jsonObject<z.infer<typeof network>>({
    network: sql`(select case when network like 'testnet%' then 'testnet' else network end from meta)`,
    sink: sql`encode(block.hash, 'hex')`,
    blueScore: sql`block.blue_score::text`,
    daaScore: sql`block.daa_score::text`,
    timestamp: sql`block.timestamp`,
    difficulty: difficultyOf,
    hashesPerSecond: sql`coalesce(
      (select trunc(sum(work) * 1000 / (max(start) + 60000 - min(start)))::text from minute),
      trunc(work_of_bits(block.bits) * 10)::text)`,
    lastMinute: sql`(
      select json_build_object('start', start, 'blocksPerSecond', round(blocks / 60.0, 3)::float8,
        'transactionsPerSecond', round(transactions / 60.0, 3)::float8, 'feesPerSecond', div(fees, 60)::text)
      from minute order by start desc limit 1)`,
    circulatingSompi: sql`(select circulating_sompi::text from checkpoint)`,
    maxSompi: sql.lit(String(MAX_SOMPI)),
    blockReward: sql`(select subsidy::text from reward)`,
    nextReward: sql`(select next_subsidy::text from reward)`,
    nextRewardAt: sql`(
      select block.timestamp + (next_daa_score - block.daa_score) * ${parameter('targetTimeMs', 'bigint')} from reward)`,
    countedFrom,
    blockCount: sql`coalesce((select blocks from total), '0')`,
    transactionCount: sql`coalesce((select transactions from total), '0')`,
    addressCount: sql`(select coalesce(sum(addresses), 0)::text from balance_tiers)`,
    mempoolSize: parameter('mempoolSize', 'integer'),
  })} from sink block)`,
}));

/** In sompi per block, and Unix milliseconds. */
interface Emission {
  blockReward: string;
  nextReward: string | null;
  nextRewardAt: number | null;
}

/** Returns the subsidy now and the next one, both in sompi per block. */
export function emissionOf({ network, sinkDaaScore, sinkTimestamp }: IndexState): Emission {
  const { subsidy, endDaaScore } = subsidyAt(network, sinkDaaScore);
  if (endDaaScore === undefined) return { blockReward: String(subsidy), nextReward: null, nextRewardAt: null };
  return {
    blockReward: String(subsidy),
    nextReward: String(subsidyAt(network, endDaaScore).subsidy),
    nextRewardAt: Number(sinkTimestamp) + msOf(network, endDaaScore - sinkDaaScore),
  };
}

const schedules = new WeakMap<Network, { daaScore: bigint; subsidy: bigint }[]>();

/** Lists all subsidies of a network, about 430. */
function scheduleOf(network: Network): { daaScore: bigint; subsidy: bigint }[] {
  const known = schedules.get(network);
  if (known !== undefined) return known;
  const schedule: { daaScore: bigint; subsidy: bigint }[] = [];
  for (let daaScore: bigint | undefined = 0n; daaScore !== undefined; ) {
    const { subsidy, endDaaScore }: Subsidy = subsidyAt(network, daaScore);
    schedule.push({ daaScore, subsidy });
    daaScore = endDaaScore;
  }
  schedules.set(network, schedule);
  return schedule;
}

const msOf = ({ targetTimePerBlockMs }: Network, blocks: bigint): number => Number(blocks) * targetTimePerBlockMs;

export const getNetwork = statementRoute(
  {
    ...lookUp('Network', '/v1/network', 'getNetwork'),
    summary: 'The network at the sink: scores, rates, supply, rewards and counts',
    tagOf: 'content',
    response: network,
  },
  async (_input, settled, { mempool }) => {
    requireCaughtUp(settled);
    const { network } = settled;
    const schedule = scheduleOf(network);
    return totals.with({
      daaScores: schedule.map(({ daaScore }) => daaScore),
      subsidies: schedule.map(({ subsidy }) => subsidy),
      targetTimeMs: network.targetTimePerBlockMs,
      mempoolSize: await mempool.findSize(),
    });
  },
);
