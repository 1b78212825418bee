/** Operations that pass on what the node reports of itself, of the DAG, and of fees. */
import { toHex } from '@kasgres/kaspa';
import { z } from 'zod';
import { required, toJson } from '../../node-calls.ts';
import { route } from '../../route.ts';
import { count, decimal, hash, milliseconds } from '../../schemas/values.ts';
import { subnetworkIdInput } from './submitted/values.ts';

const blockCount = z.object({
  blockCount: decimal.meta({ description: 'Estimate of the node' }),
  headerCount: decimal.meta({ description: 'Estimate of the node' }),
});

const blockDagInfo = z.object({
  networkName: z.string().meta({ description: '`kaspa-mainnet`, `kaspa-testnet-10`, …' }),
  ...blockCount.shape,
  tipHashes: z.array(hash),
  difficulty: z.number(),
  pastMedianTime: milliseconds,
  virtualParentHashes: z.array(hash).meta({ description: 'Parents of the next block' }),
  pruningPointHash: hash,
  virtualDaaScore: decimal,
  sink: hash.meta({ description: 'Sink of the node, which the index may not have reached yet' }),
});

export const getBlockDagInfo = route(
  {
    method: 'GET',
    url: '/v1/rpc/getBlockDagInfo',
    operationId: 'getBlockDagInfo',
    summary: 'Current state of the DAG at the node',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    response: blockDagInfo,
  },
  async ({ node }) => toJson(blockDagInfo, await node.call('getBlockDagInfo', {})),
);

export const getBlockCount = route(
  {
    method: 'GET',
    url: '/v1/rpc/getBlockCount',
    operationId: 'getBlockCount',
    summary: 'Number of blocks and headers of the node',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    response: blockCount,
  },
  async ({ node }) => toJson(blockCount, await node.call('getBlockCount', {})),
);

const feerateBucket = z
  .object({
    feerate: z.number().meta({ description: 'Sompi per gram of mass' }),
    estimatedSeconds: z
      .number()
      .meta({ description: 'Estimated time until a transaction with this fee rate is in a block' }),
  })
  .meta({ id: 'FeerateBucket' });

export const getFeeEstimate = route(
  {
    method: 'GET',
    url: '/v1/rpc/getFeeEstimate',
    operationId: 'getFeeEstimate',
    summary: 'Fee rates, and the estimated time until inclusion in a block',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    response: z.object({
      estimate: z.object({
        priorityBucket: feerateBucket.meta({ description: 'For the next blocks' }),
        normalBuckets: z.array(feerateBucket).meta({ description: 'Within a minute; the first is the fastest' }),
        lowBuckets: z.array(feerateBucket).meta({ description: 'Within an hour' }),
      }),
    }),
  },
  async ({ node }) => {
    const response = await node.call('getFeeEstimate', {});
    const { priorityBucket, normalBuckets, lowBuckets } = required(response.estimate, 'estimate');
    return {
      estimate: {
        priorityBucket: toJson(feerateBucket, required(priorityBucket, 'priority bucket')),
        normalBuckets: normalBuckets.map((bucket) => toJson(feerateBucket, bucket)),
        lowBuckets: lowBuckets.map((bucket) => toJson(feerateBucket, bucket)),
      },
    };
  },
);

const isSynced = z.boolean().meta({ description: 'Whether the node is near the tip of the network' });

const info = z.object({
  p2pId: z.string(),
  mempoolSize: decimal,
  serverVersion: z.string(),
  isUtxoIndexed: z.boolean(),
  isSynced,
  hasNotifyCommand: z.boolean(),
  hasMessageId: z.boolean(),
});

export const getInfo = route(
  {
    method: 'GET',
    url: '/v1/rpc/getInfo',
    operationId: 'getInfo',
    summary: 'Version of the node, and the size of its mempool',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    response: info,
  },
  async ({ node }) => toJson(info, await node.call('getInfo', {})),
);

const serverInfo = z.object({
  rpcApiVersion: count,
  rpcApiRevision: count,
  serverVersion: z.string(),
  networkId: z.string().meta({ description: '`mainnet`, `testnet-10`, …' }),
  hasUtxoIndex: z.boolean(),
  isSynced,
  virtualDaaScore: decimal,
});

export const getServerInfo = route(
  {
    method: 'GET',
    url: '/v1/rpc/getServerInfo',
    operationId: 'getServerInfo',
    summary: 'Network of the node, and the version of its RPC',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    response: serverInfo,
  },
  async ({ node }) => toJson(serverInfo, await node.call('getServerInfo', {})),
);

const subnetwork = z.object({ gasLimit: decimal });

export const getSubnetwork = route(
  {
    method: 'POST',
    url: '/v1/rpc/getSubnetwork',
    operationId: 'getSubnetwork',
    summary: 'Gas limit of a subnetwork',
    description: 'kaspad 2.1 does not implement this call: it rejects it, which is a 400.',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    body: z.strictObject({ subnetworkId: subnetworkIdInput }),
    response: subnetwork,
  },
  async ({ node }, { body }) =>
    toJson(subnetwork, await node.call('getSubnetwork', { subnetworkId: toHex(body.subnetworkId) })),
);
