/** submitBlock: a block that was mined on a template, for the node and the network. */
import { toHeaderMessage, toTransactionMessage } from '@kasgres/node';
import { z } from 'zod';
import { callerOf } from '../../http/caller.ts';
import { MAX_BLOCK_VALUES, parseJsonBodies } from '../../http/json-body.ts';
import { answers, SUBMITS, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { flag } from '../../schemas/values.ts';
import type { ApiPlugin, Services } from '../../services.ts';
import { submittedBlock } from './submitted/block.ts';
import { completeStorageMasses } from './submitted/storage-masses.ts';

const body = z.strictObject({
  block: submittedBlock,
  allowNonDAABlocks: flag.meta({ description: 'Take also a block whose DAA score is far behind' }),
});

const submitted = z.object({
  rejectReason: z.literal('NONE').meta({ description: 'A block that is rejected is no 200' }),
});

async function submit(
  services: Services,
  request: z.infer<typeof body>,
  caller: string,
): Promise<z.infer<typeof submitted>> {
  const { header, transactions } = request.block;
  const node = services.nodeCalls.of(caller);
  const complete = await completeStorageMasses({ index: services.index, node }, transactions, caller);
  await node.call('submitBlock', {
    block: { header: toHeaderMessage(header), transactions: complete.map(toTransactionMessage) },
    allowNonDAABlocks: request.allowNonDAABlocks,
  });
  return { rejectReason: 'NONE' };
}

export const submitBlockRoutes: ApiPlugin = async (app, services) => {
  parseJsonBodies(app, { exactIntegers: true, maxValues: MAX_BLOCK_VALUES });
  app.post(
    '/v1/rpc/submitBlock',
    {
      config: { cost: 0.1, costsByItemsOf: ['block', 'transactions'], submits: true },
      schema: {
        operationId: 'submitBlock',
        summary: 'Hands a mined block to the node',
        description:
          'The block of getBlockTemplate with its nonce and time set, or any block in the form of getBlock. One that the node rejects is ' +
          'a 400 with its words, and a 503 while the node is not synced.',
        tags: ['Node RPC Proxy'],
        body,
        response: answers(submitted, ...UNDER_KEY, ...WITH_BODY, ...SUBMITS),
      },
    },
    (request) => submit(services, request.body, callerOf(request)),
  );
};
