/** getFeeEstimate: what the node thinks a transaction must pay to get into a block, and when. */
import type { protocol } from '@kasgres/node';
import { z } from 'zod';
import { callerOf } from '../../http/caller.ts';
import type { NodeCaller } from '../../node-calls.ts';
import { required } from '../../node-messages.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import type { ApiPlugin } from '../../services.ts';

const feerateBucket = z
  .object({
    feerate: z.number().meta({ description: 'Sompi a gram of mass' }),
    estimatedSeconds: z.number().meta({ description: 'Until a transaction that pays it is in a block' }),
  })
  .meta({ id: 'FeerateBucket' });

const feeEstimate = z.object({
  estimate: z.object({
    priorityBucket: feerateBucket.meta({ description: 'For the next blocks' }),
    normalBuckets: z.array(feerateBucket).meta({ description: 'Within a minute; the first is the fastest' }),
    lowBuckets: z.array(feerateBucket).meta({ description: 'Within an hour' }),
  }),
});

const toBucket = ({ feerate, estimatedSeconds }: protocol.FeerateBucket): z.infer<typeof feerateBucket> => ({
  feerate,
  estimatedSeconds,
});

async function getFeeEstimate(node: NodeCaller): Promise<z.infer<typeof feeEstimate>> {
  const response = await node.call('getFeeEstimate', {});
  const estimate = required(response.estimate, 'estimate');
  return {
    estimate: {
      priorityBucket: toBucket(required(estimate.priorityBucket, 'priority bucket')),
      normalBuckets: estimate.normalBuckets.map(toBucket),
      lowBuckets: estimate.lowBuckets.map(toBucket),
    },
  };
}

export const rpcFeeEstimateRoutes: ApiPlugin = async (app, { nodeCalls }) => {
  app.get(
    '/v1/rpc/getFeeEstimate',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getFeeEstimate',
        summary: 'Fee rates, and how soon they bring a transaction into a block',
        tags: ['Node RPC Proxy'],
        response: answers(feeEstimate, ...UNDER_KEY),
      },
    },
    (request) => getFeeEstimate(nodeCalls.of(callerOf(request))),
  );
};
