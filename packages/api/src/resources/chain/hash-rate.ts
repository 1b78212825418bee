/**
 * estimateNetworkHashesPerSecond by the node's formula, over the blocks with the most blue work in the past of a block, or of the
 * virtual block (API.md, "Where each answer comes from").
 */
import type { Database } from '@kasgres/database';
import { type Network, networkHashesPerSecond } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { conflict } from '../../http/errors.ts';
import { respondFromIndex } from '../../index-state/answer.ts';
import { anyOf } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import { decimal, hashInput } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { findPartStart, notConnected, type PartEnd } from './parts.ts';
import { getPathToChain } from './path-to-chain.ts';

const MIN_WINDOW = 1000;
const MAX_WINDOW = 10_000;

const querystring = z.strictObject({
  windowSize: z.coerce
    .number()
    .int()
    .min(MIN_WINDOW)
    .max(MAX_WINDOW)
    .default(MIN_WINDOW)
    .meta({ description: 'Blocks to look at' }),
  startHash: hashInput
    .optional()
    .meta({ description: 'The block whose past is looked at; left out: the virtual block' }),
});

const hashRate = z.object({ networkHashesPerSecond: decimal });

/** A past: what the chain has merged up to a chain block, and some blocks more, each with the blue score of what merges it. */
interface Past {
  chainIndex: bigint;
  /** That chain block's: all that it has in its past has less. */
  blueWork: string;
  more: readonly { id: bigint; mergingBlueScore: bigint }[];
  /** Where what is indexed of it begins; undefined where that is all of it. */
  start: PartEnd | undefined;
}

/** The past of the virtual block: what the chain has merged, the sink, and what is not merged yet. */
async function getPastOfVirtual(reading: Reading): Promise<Past> {
  const { state } = reading;
  const mergingBlueScore = state.sinkBlueScore + 1n;
  const more = [state.sinkId, ...state.virtualMergeSet].map((id) => ({ id, mergingBlueScore }));
  const start = await findPartStart(reading, state.sinkChainIndex);
  return { chainIndex: state.sinkChainIndex, blueWork: state.sinkBlueWork, more, start };
}

async function getPast(reading: Reading, startHash: Uint8Array): Promise<Past> {
  const { offChain, chainBlock } = await getPathToChain(reading, startHash);
  const more = offChain.flatMap(({ mergeSet, blueScore }) =>
    mergeSet.map((id) => ({ id, mergingBlueScore: blueScore })),
  );
  const ids = more.map(({ id }) => id);
  if (await haveEarlierBlocks(reading.db, ids)) throw await notConnected(reading);
  const start = await findPartStart(reading, chainBlock.index);
  return { chainIndex: chainBlock.index, blueWork: chainBlock.blueWork, more, start };
}

/** Whether any of these blocks is known by its hash alone. */
async function haveEarlierBlocks(db: Kysely<Database>, ids: readonly bigint[]): Promise<boolean> {
  const row = await db.selectFrom('earlier_blocks').select('id').where('id', '=', anyOf(ids)).executeTakeFirst();
  return row !== undefined;
}

interface WindowRow {
  blocks: bigint;
  min_blue_work: string;
  max_blue_work: string;
  min_timestamp: bigint;
  max_timestamp: bigint;
}

/**
 * The extremes of a window. What is not indexed of a past is in the past of the block where the index of it begins, and so has less blue
 * work than that one: a window that is full with blocks of as much is right. `offset 0` keeps Postgres from turning the look-up of the merging block into a join, so that the index
 * on blue work is read downwards just as far as the window needs.
 */
async function getWindow(db: Kysely<Database>, past: Past, network: Network, size: number): Promise<WindowRow> {
  const mergedWithin = network.difficultyWindowBlueScores;
  const { index: lowestIndex, blueWork: leastBlueWork } = past.start ?? { index: -1n, blueWork: '0' };
  const { rows } = await sql<WindowRow>`
    with merged as (
      select b.blue_work, b.hash, b.timestamp
      from blocks b
      where b.blue_work < ${past.blueWork} and b.blue_work >= ${leastBlueWork} and b.hash <> ${network.genesisHash} and exists (
        select from chain_blocks c join blocks merging on merging.id = c.block_id
        where c.block_id = b.merging_block_id and c.index <= ${past.chainIndex} and c.index > ${lowestIndex}
          and merging.blue_score <= b.blue_score + ${mergedWithin}
        offset 0
      )
      order by b.blue_work desc, b.hash desc
      limit ${size}
    ), more as (
      select b.blue_work, b.hash, b.timestamp
      from unnest(
        ${past.more.map(({ id }) => id)}::bigint[], ${past.more.map(({ mergingBlueScore }) => mergingBlueScore)}::bigint[]
      ) as added (id, merging_blue_score)
      join blocks b on b.id = added.id
      where b.blue_work >= ${leastBlueWork} and b.hash <> ${network.genesisHash} and added.merging_blue_score <= b.blue_score + ${mergedWithin}
    ), top as (
      select * from (select * from merged union all select * from more) as past
      order by blue_work desc, hash desc
      limit ${size}
    )
    select count(*) as blocks, min(blue_work) as min_blue_work, max(blue_work) as max_blue_work,
      min(timestamp) as min_timestamp, max(timestamp) as max_timestamp
    from top`.execute(db);
  return rows[0] as WindowRow;
}

/** The node's own hash for its virtual block is all ones. */
const isVirtual = (hash: Uint8Array): boolean => hash.every((byte) => byte === 0xff);

async function estimate(reading: Reading, { windowSize, startHash }: z.infer<typeof querystring>): Promise<bigint> {
  const { db, state } = reading;
  const past =
    startHash === undefined || isVirtual(startHash)
      ? await getPastOfVirtual(reading)
      : await getPast(reading, startHash);
  const window = await getWindow(db, past, state.network, windowSize);
  if (past.start !== undefined && window.blocks < windowSize) {
    throw conflict(
      `The window reaches below block ${past.start.hash}, before which this part of the chain is not indexed: only ${window.blocks} of its ${windowSize} blocks are there`,
    );
  }
  if (window.blocks < MIN_WINDOW) {
    throw conflict(`Only ${window.blocks} indexed blocks are before this one; ${MIN_WINDOW} are needed`);
  }
  return networkHashesPerSecond({
    minBlueWork: BigInt(window.min_blue_work),
    maxBlueWork: BigInt(window.max_blue_work),
    minTimestamp: window.min_timestamp,
    maxTimestamp: window.max_timestamp,
  });
}

export const hashRateRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/rpc/estimateNetworkHashesPerSecond',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'estimateNetworkHashesPerSecond',
        summary: 'The hash rate of the network over a window of blocks',
        description:
          'A window that reaches below the first block of the index, where that is not genesis, or into a gap is a 409.',
        tags: ['Node RPC Proxy'],
        querystring,
        response: answers(hashRate, 304, ...UNDER_KEY, 400, 404, 409),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async (reading) => ({
        networkHashesPerSecond: String(await estimate(reading, request.query)),
      })),
  );
};
