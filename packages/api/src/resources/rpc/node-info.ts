/** getInfo, getServerInfo and getSubnetwork: what the node says of itself. */
import { toHex } from '@kasgres/kaspa';
import { z } from 'zod';
import { callerOf } from '../../http/caller.ts';
import type { NodeCaller } from '../../node-calls.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { count, decimal } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { subnetworkIdInput } from './submitted/values.ts';

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

const serverInfo = z.object({
  rpcApiVersion: count,
  rpcApiRevision: count,
  serverVersion: z.string(),
  networkId: z.string().meta({ description: '`mainnet`, `testnet-10`, …' }),
  hasUtxoIndex: z.boolean(),
  isSynced,
  virtualDaaScore: decimal,
});

const subnetworkBody = z.strictObject({ subnetworkId: subnetworkIdInput });
const subnetwork = z.object({ gasLimit: decimal });

async function getInfo(node: NodeCaller): Promise<z.infer<typeof info>> {
  const answer = await node.call('getInfo', {});
  return {
    p2pId: answer.p2pId,
    mempoolSize: String(answer.mempoolSize),
    serverVersion: answer.serverVersion,
    isUtxoIndexed: answer.isUtxoIndexed,
    isSynced: answer.isSynced,
    hasNotifyCommand: answer.hasNotifyCommand,
    hasMessageId: answer.hasMessageId,
  };
}

async function getServerInfo(node: NodeCaller): Promise<z.infer<typeof serverInfo>> {
  const answer = await node.call('getServerInfo', {});
  return {
    rpcApiVersion: answer.rpcApiVersion,
    rpcApiRevision: answer.rpcApiRevision,
    serverVersion: answer.serverVersion,
    networkId: answer.networkId,
    hasUtxoIndex: answer.hasUtxoIndex,
    isSynced: answer.isSynced,
    virtualDaaScore: String(answer.virtualDaaScore),
  };
}

async function getSubnetwork(
  node: NodeCaller,
  { subnetworkId }: z.infer<typeof subnetworkBody>,
): Promise<z.infer<typeof subnetwork>> {
  const { gasLimit } = await node.call('getSubnetwork', { subnetworkId: toHex(subnetworkId) });
  return { gasLimit: String(gasLimit) };
}

export const rpcNodeInfoRoutes: ApiPlugin = async (app, { nodeCalls }) => {
  app.get(
    '/v1/rpc/getInfo',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getInfo',
        summary: 'The node, its version and the size of its mempool',
        tags: ['Node RPC Proxy'],
        response: answers(info, ...UNDER_KEY),
      },
    },
    (request) => getInfo(nodeCalls.of(callerOf(request))),
  );

  app.get(
    '/v1/rpc/getServerInfo',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getServerInfo',
        summary: 'The node, its network and the version of its RPC',
        tags: ['Node RPC Proxy'],
        response: answers(serverInfo, ...UNDER_KEY),
      },
    },
    (request) => getServerInfo(nodeCalls.of(callerOf(request))),
  );

  app.post(
    '/v1/rpc/getSubnetwork',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getSubnetwork',
        summary: 'The gas limit of a subnetwork',
        description: 'kaspad 2.1 has not implemented it: its refusal is a 400.',
        tags: ['Node RPC Proxy'],
        body: subnetworkBody,
        response: answers(subnetwork, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request) => getSubnetwork(nodeCalls.of(callerOf(request)), request.body),
  );
};
