/**
 * estimateNetworkHashesPerSecond: the formula of the node, over the blocks with the most blue work
 * in the past of a block.
 */
import { type Network, networkHashesPerSecond } from '@kasgres/kaspa';
import {
  conflict,
  type Db,
  decimal,
  findSegmentStart,
  getPathToChain,
  hashInput,
  isPreBootstrap,
  notConnected,
  type Reading,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { z } from 'zod';
import { indexRoute } from '../../openapi/route.ts';
import { queryNumber } from '../../pages/page-query.ts';
import { rpc } from '../shared.ts';

const MIN_WINDOW = 1000;
const MAX_WINDOW = 10_000;

type Window = { blocks: bigint; minBlueWork: string; maxBlueWork: string; minTimestamp: bigint; maxTimestamp: bigint };

type Past = Awaited<ReturnType<typeof getPast>>;

/**
 * Returns the past of a block, or that of the virtual block, which includes the sink and the blocks
 * that are not merged yet: the blocks merged up to a chain block, whose blue work is higher than
 * that of any of them, and more blocks with the blue score of the block that merges each. `start`
 * is the first indexed block of the segment; undefined if all of the past is indexed.
 */
async function getPast(reading: Reading, startHash: Uint8Array | undefined) {
  const { db, state } = reading;
  if (startHash === undefined || isVirtual(startHash)) {
    const mergingBlueScore = state.sinkBlueScore + 1n;
    const more = [state.sinkId, ...state.virtualMergeSet].map((id) => ({ id, mergingBlueScore }));
    const start = await findSegmentStart(reading, state.sinkChainIndex);
    return { chainIndex: state.sinkChainIndex, blueWork: state.sinkBlueWork, more, start };
  }
  const { offChain, chainBlock } = await getPathToChain(reading, startHash);
  const more = offChain.flatMap(({ mergeSet, blueScore }) =>
    mergeSet.map((id) => ({ id, mergingBlueScore: blueScore })),
  );
  if (await isPreBootstrap(db, { ids: more.map(({ id }) => id) })) throw await notConnected(reading);
  const start = await findSegmentStart(reading, chainBlock.index);
  return { chainIndex: chainBlock.index, blueWork: chainBlock.blueWork, more, start };
}

/** The node uses a hash of all ones for its virtual block. */
const isVirtual = (hash: Uint8Array): boolean => hash.every((byte) => byte === 0xff);

/**
 * Returns the extremes of a window. Blocks that are not indexed are in the past of the first block
 * of the segment, and have less blue work: a window that is filled with blocks of at least as much
 * is exact. `offset 0` keeps Postgres from turning the look-up of the merging block into a join, so
 * that the index on blue work is read only as far as the window needs.
 */
async function getWindow(db: Db, past: Past, network: Network, size: number) {
  const mergedWithin = network.difficultyWindowBlueScores;
  const { index: lowestIndex, blueWork: leastBlueWork } = past.start ?? { index: -1n, blueWork: '0' };
  const { rows } = await sql<Window>`
    with merged as (
      select b.blue_work, b.hash, b.timestamp
      from blocks b
      where b.blue_work < ${past.blueWork} and b.blue_work >= ${leastBlueWork}
        and b.hash <> ${network.genesisHash} and exists (
        select from chain_blocks c join blocks merging on merging.id = c.block_id
        where c.block_id = b.merging_block_id and c.index <= ${past.chainIndex}
          and c.index > ${lowestIndex}
          and merging.blue_score <= b.blue_score + ${mergedWithin}
        offset 0
      )
      order by b.blue_work desc, b.hash desc
      limit ${size}
    ), more as (
      select b.blue_work, b.hash, b.timestamp
      from unnest(
        ${past.more.map(({ id }) => id)}::bigint[],
          ${past.more.map(({ mergingBlueScore }) => mergingBlueScore)}::bigint[]
      ) as added (id, merging_blue_score)
      join blocks b on b.id = added.id
      where b.blue_work >= ${leastBlueWork} and b.hash <> ${network.genesisHash}
        and added.merging_blue_score <= b.blue_score + ${mergedWithin}
    ), top as (
      select * from (select * from merged union all select * from more) as past
      order by blue_work desc, hash desc
      limit ${size}
    )
    select count(*) as blocks, min(blue_work) as "minBlueWork", max(blue_work) as "maxBlueWork",
      min(timestamp) as "minTimestamp", max(timestamp) as "maxTimestamp"
    from top`.execute(db);
  return rows[0] as Window;
}

export const estimateNetworkHashesPerSecond = indexRoute(
  {
    ...rpc('GET', 'estimateNetworkHashesPerSecond'),
    summary: 'Hash rate of the network over a window of blocks',
    description:
      'A window that needs blocks before the first indexed block, if that is not genesis, or in a gap is a 409.',
    query: z.strictObject({
      windowSize: queryNumber(MIN_WINDOW, MAX_WINDOW, 'Number of blocks').default(MIN_WINDOW),
      startHash: hashInput
        .optional()
        .meta({ description: 'The block whose past is measured; the virtual block by default' }),
    }),
    response: z.object({ networkHashesPerSecond: decimal }),
    errors: [404, 409],
  },
  async (reading, { query: { windowSize, startHash } }) => {
    const past = await getPast(reading, startHash);
    const { blocks, ...window } = await getWindow(reading.db, past, reading.state.network, windowSize);
    if (past.start !== undefined && blocks < windowSize) {
      throw conflict(
        `Only ${blocks} of the ${windowSize} blocks of the window are indexed: this segment of the chain begins with block ${past.start.hash}`,
      );
    }
    if (blocks < MIN_WINDOW) {
      throw conflict(`Only ${blocks} blocks are in the past of this block, and ${MIN_WINDOW} are needed`);
    }
    const { minBlueWork, maxBlueWork, ...times } = window;
    const works = { minBlueWork: BigInt(minBlueWork), maxBlueWork: BigInt(maxBlueWork) };
    return { networkHashesPerSecond: String(networkHashesPerSecond({ ...works, ...times })) };
  },
);
