/** getSink and getSinkBlueScore: where the index is. */
import { z } from 'zod';
import { respondFromIndex } from '../../index-state/answer.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import { decimal, hash } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';

export const rpcSinkRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/rpc/getSink',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getSink',
        summary: 'The sink: the highest block of the chain that is indexed',
        tags: ['Node RPC Proxy'],
        response: answers(z.object({ sink: hash }), 304, ...UNDER_KEY),
      },
    },
    (request, reply) => respondFromIndex(index, request, reply, async ({ state }) => ({ sink: state.sinkHash })),
  );

  app.get(
    '/v1/rpc/getSinkBlueScore',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getSinkBlueScore',
        summary: 'The blue score of the sink',
        tags: ['Node RPC Proxy'],
        response: answers(z.object({ blueScore: decimal }), 304, ...UNDER_KEY),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async ({ state }) => ({ blueScore: String(state.sinkBlueScore) })),
  );
};
