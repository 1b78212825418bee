/** getBlock: one block by its hash, in the form of getBlocks. */
import { z } from 'zod';
import { respondByContent } from '../../index-state/answer.ts';
import type { Reading } from '../../index-state/state.ts';
import { block, type BlockJson } from '../../schemas/block.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { flag, hashInput } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { loadBlocks } from '../blocks/load-blocks.ts';
import { findBlockId } from '../blocks/rest/find-block.ts';
import { unknown } from '../chain/parts.ts';

const body = z.strictObject({ hash: hashInput, includeTransactions: flag });

async function getBlock(reading: Reading, request: z.infer<typeof body>): Promise<BlockJson> {
  const id = await findBlockId(reading.db, request.hash);
  if (id === undefined) throw await unknown(reading, 'block');
  const [found] = await loadBlocks(reading, [id], request.includeTransactions);
  return found as BlockJson;
}

export const rpcBlockRoutes: ApiPlugin = async (app, { index }) => {
  app.post(
    '/v1/rpc/getBlock',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getBlock',
        summary: 'One block by its hash',
        tags: ['Node RPC Proxy'],
        body,
        response: answers(z.object({ block }), 304, ...UNDER_KEY, ...WITH_BODY, 404),
      },
    },
    (request, reply) =>
      respondByContent(index, request, reply, async (reading) => ({ block: await getBlock(reading, request.body) })),
  );
};
