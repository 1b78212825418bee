/** GET /v1/blocks/{hash}: one block with everything that is known of it. */
import { z } from 'zod';
import { respondFromIndex } from '../../../index-state/answer.ts';
import type { IndexState, Reading } from '../../../index-state/state.ts';
import { queryFlag } from '../../../pages/page-query.ts';
import { answers, UNDER_KEY } from '../../../schemas/responses.ts';
import { hashInput } from '../../../schemas/values.ts';
import type { ApiPlugin } from '../../../services.ts';
import { unknown } from '../../chain/parts.ts';
import { loadBlocks } from '../load-blocks.ts';
import { findBlockId } from './find-block.ts';
import { listRestBlocks, type RestBlockRow, toRestBlock } from './load-rest-blocks.ts';
import { type BlockDetailsJson, blockDetails } from './schemas.ts';

const params = z.strictObject({ hash: hashInput });

const query = z.strictObject({
  include_transactions: queryFlag.meta({ description: 'Whole transactions, not only their ids' }),
});

async function getBlock(reading: Reading, hash: Uint8Array, withTransactions: boolean): Promise<BlockDetailsJson> {
  const { db, state } = reading;
  const id = await findBlockId(db, hash);
  if (id === undefined) throw await unknown(reading, 'block');
  const [block] = await loadBlocks(reading, [id], withTransactions);
  const [row] = await listRestBlocks(db, [id]);
  if (block === undefined || row === undefined) throw new Error(`Block ${id} is missing`);
  return { ...block, ...toRestBlock(row), confirmations: countConfirmations(row, state) };
}

/** From the chain block that it counts with, itself or the one that merges it, to the sink. */
function countConfirmations(row: RestBlockRow, { sinkBlueScore }: IndexState): number {
  const blueScore = row.is_chain_block ? row.blue_score : row.merging_block_blue_score;
  return blueScore === null ? 0 : Number(sinkBlueScore - BigInt(blueScore));
}

export const getBlockRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/blocks/:hash',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getBlockDetails',
        summary: 'One block: what it is, and what the chain made of it',
        tags: ['Block'],
        params,
        querystring: query,
        response: answers(z.object({ block: blockDetails }), 304, ...UNDER_KEY, 400, 404),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async (reading) => ({
        block: await getBlock(reading, request.params.hash, request.query.include_transactions),
      })),
  );
};
