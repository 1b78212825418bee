/** getBlockDagInfo and getBlockCount: the DAG as the node sees it now. */
import type { ResponseOf } from '@kasgres/node';
import { z } from 'zod';
import { callerOf } from '../../http/caller.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import { decimal, hash, milliseconds } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';

const blockCount = z.object({
  blockCount: decimal.meta({ description: 'As the node estimates it' }),
  headerCount: decimal.meta({ description: 'As the node estimates it' }),
});

const blockDagInfo = z.object({
  networkName: z.string().meta({ description: '`kaspa-mainnet`, `kaspa-testnet-10`, …' }),
  ...blockCount.shape,
  tipHashes: z.array(hash),
  difficulty: z.number(),
  pastMedianTime: milliseconds,
  virtualParentHashes: z.array(hash).meta({ description: 'The parents of the next block' }),
  pruningPointHash: hash,
  virtualDaaScore: decimal,
  sink: hash.meta({ description: 'That of the node: the index may still be on its way there' }),
});

const toBlockCount = (count: { blockCount: bigint; headerCount: bigint }): z.infer<typeof blockCount> => ({
  blockCount: String(count.blockCount),
  headerCount: String(count.headerCount),
});

const toBlockDagInfo = (info: ResponseOf<'getBlockDagInfo'>): z.infer<typeof blockDagInfo> => ({
  networkName: info.networkName,
  ...toBlockCount(info),
  tipHashes: info.tipHashes,
  difficulty: info.difficulty,
  pastMedianTime: String(info.pastMedianTime),
  virtualParentHashes: info.virtualParentHashes,
  pruningPointHash: info.pruningPointHash,
  virtualDaaScore: String(info.virtualDaaScore),
  sink: info.sink,
});

export const rpcDagInfoRoutes: ApiPlugin = async (app, { nodeCalls }) => {
  app.get(
    '/v1/rpc/getBlockDagInfo',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getBlockDagInfo',
        summary: 'The DAG as the node sees it now',
        tags: ['Node RPC Proxy'],
        response: answers(blockDagInfo, ...UNDER_KEY),
      },
    },
    (request) => nodeCalls.of(callerOf(request)).call('getBlockDagInfo', {}).then(toBlockDagInfo),
  );

  app.get(
    '/v1/rpc/getBlockCount',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getBlockCount',
        summary: 'How many blocks and headers the node has',
        tags: ['Node RPC Proxy'],
        response: answers(blockCount, ...UNDER_KEY),
      },
    },
    (request) => nodeCalls.of(callerOf(request)).call('getBlockCount', {}).then(toBlockCount),
  );
};
