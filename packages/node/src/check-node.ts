/**
 * Checks after connecting whether a node can serve the index. Retrying does not correct these
 * errors.
 */
import { findNetwork, fromHex, type Hash, type Network, type NetworkId, networks } from '@kasgres/kaspa';
import { NodeProtocolError, NodeUnsuitableError } from './errors.ts';
import type { CallOptions, NodeClient } from './node-client.ts';

export interface NodeStatus {
  network: Network;
  serverVersion: string;
  /** False is no error: a simnet without new blocks is not synced after eleven minutes. */
  isSynced: boolean;
  virtualDaaScore: bigint;
  sink: Hash;
  /** Genesis until the node prunes. */
  pruningPoint: Hash;
}

/**
 * Throws NodeUnsuitableError if the node is on another network than `network`; else as `call`.
 * The node needs no --utxoindex: UTXOs, balances and the supply come from the index.
 */
export async function checkNode(
  client: NodeClient,
  { network: wanted, ...options }: { network?: NetworkId } & CallOptions = {},
): Promise<NodeStatus> {
  const [server, info, dag] = await Promise.all([
    client.call('getServerInfo', {}, options),
    client.call('getInfo', {}, options),
    client.call('getBlockDagInfo', {}, options),
  ]);
  const network = findNetwork(server.networkId);
  if (network === undefined) {
    throw new NodeUnsuitableError(
      'wrong-network',
      `the node runs on network ${JSON.stringify(server.networkId)}, which is not one of ${networks.map(({ id }) => id).join(', ')}`,
    );
  }
  if (wanted !== undefined && network.id !== wanted) {
    throw new NodeUnsuitableError(
      'wrong-network',
      `the node runs on ${network.id}, and ${wanted} is wanted: point NODE_URL at a node of ${wanted}, or use another database`,
    );
  }
  if (!info.hasMessageId) throw new NodeProtocolError('the node is too old: its responses carry no ids');
  return {
    network,
    serverVersion: server.serverVersion,
    isSynced: server.isSynced,
    virtualDaaScore: server.virtualDaaScore,
    sink: fromHex(dag.sink),
    pruningPoint: fromHex(dag.pruningPointHash),
  };
}
