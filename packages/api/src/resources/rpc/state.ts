/**
 * Operations under /v1/rpc on the state of the network: of the checkpoint, or as the node reports
 * it.
 */
import { MAX_SOMPI, toHex } from '@kasgres/kaspa';
import { count, decimal, hash, hashInput, hexBytes, milliseconds, requireCaughtUp, sompi } from '@kasgres/reads';
import { z } from 'zod';
import { required, toJson } from '../../node/node-calls.ts';
import { route, stateRoute } from '../../openapi/route.ts';
import { rpc } from '../shared.ts';
import { subnetworkIdInput } from './submitted/values.ts';

export const getCurrentNetwork = stateRoute(
  {
    ...rpc('GET', 'getCurrentNetwork'),
    summary: 'Name of the network',
    response: z.object({ network: z.enum(['mainnet', 'testnet', 'simnet', 'devnet']) }),
  },
  (state) => ({ network: state.network.name }),
);

export const getCoinSupply = stateRoute(
  {
    ...rpc('GET', 'getCoinSupply'),
    summary: 'Circulating and maximum supply',
    response: z.object({
      maxSompi: sompi,
      circulatingSompi: sompi.meta({ description: 'Sum of all UTXOs at the sink' }),
    }),
  },
  (state) => {
    requireCaughtUp(state);
    return { maxSompi: String(MAX_SOMPI), circulatingSompi: String(state.circulatingSompi) };
  },
);

export const getSink = stateRoute(
  {
    ...rpc('GET', 'getSink'),
    summary: 'Hash of the sink: the highest indexed chain block',
    response: z.object({ sink: hash }),
  },
  (state) => ({ sink: state.sinkHash }),
);

export const getSinkBlueScore = stateRoute(
  { ...rpc('GET', 'getSinkBlueScore'), summary: 'Blue score of the sink', response: z.object({ blueScore: decimal }) },
  (state) => ({ blueScore: String(state.sinkBlueScore) }),
);

const blockCount = z.object({
  blockCount: decimal.meta({ description: 'Estimate of the node' }),
  headerCount: decimal.meta({ description: 'Estimate of the node' }),
});

export const getBlockCount = route(
  { ...rpc('GET', 'getBlockCount'), summary: 'Number of blocks and headers of the node', response: blockCount },
  async ({ node }) => toJson(blockCount, await node.call('getBlockCount', {})),
);

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
  { ...rpc('GET', 'getBlockDagInfo'), summary: 'Current state of the DAG at the node', response: blockDagInfo },
  async ({ node }) => toJson(blockDagInfo, await node.call('getBlockDagInfo', {})),
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
    ...rpc('GET', 'getFeeEstimate'),
    summary: 'Fee rates, and the estimated time until inclusion in a block',
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
  { ...rpc('GET', 'getInfo'), summary: 'Version of the node, and the size of its mempool', response: info },
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
  { ...rpc('GET', 'getServerInfo'), summary: 'Network of the node, and the version of its RPC', response: serverInfo },
  async ({ node }) => toJson(serverInfo, await node.call('getServerInfo', {})),
);

const subnetwork = z.object({ gasLimit: decimal });

export const getSubnetwork = route(
  {
    ...rpc('POST', 'getSubnetwork'),
    summary: 'Gas limit of a subnetwork',
    description: 'kaspad 2.1 does not implement this call: it rejects it, which is a 400.',
    body: z.strictObject({ subnetworkId: subnetworkIdInput }),
    response: subnetwork,
  },
  async ({ node }, { body }) =>
    toJson(subnetwork, await node.call('getSubnetwork', { subnetworkId: toHex(body.subnetworkId) })),
);

const laneProof = z.object({
  smtProof: hexBytes.meta({ description: 'Path of the lane in the tree of active lanes: bitmap, terminal, siblings' }),
  laneTip: hash.optional().meta({ description: 'Absent if the lane is not active, which the proof then shows' }),
  laneBlueScore: decimal.optional(),
  payloadAndCtxDigest: hash,
  parentSeqCommit: hash.meta({ description: '`acceptedIdMerkleRoot` of the selected parent' }),
  inactivityShortcut: hash,
});

export const getSeqCommitLaneProof = route(
  {
    ...rpc('POST', 'getSeqCommitLaneProof'),
    summary: 'Proof of the tip of a user lane at a chain block',
    description:
      'The proof leads to the sequencing commitment in the header of the block, `acceptedIdMerkleRoot` (KIP-21). Nodes have it of chain blocks from their pruning point on.',
    body: z.strictObject({
      blockHash: hashInput,
      laneKey: hashInput.meta({ description: 'The key of the lane in the tree, 32 bytes' }),
    }),
    response: laneProof,
  },
  async ({ node }, { body: { blockHash, laneKey } }) => {
    const proof = await node.call('getSeqCommitLaneProof', { blockHash, laneKey });
    const { laneTip, laneBlueScore } = proof;
    return {
      smtProof: toHex(proof.smtProof),
      ...(laneTip !== undefined && { laneTip: toHex(laneTip) }),
      ...(laneBlueScore !== undefined && { laneBlueScore: String(laneBlueScore) }),
      payloadAndCtxDigest: toHex(proof.payloadAndCtxDigest),
      parentSeqCommit: toHex(proof.parentSeqCommit),
      inactivityShortcut: toHex(proof.inactivityShortcut),
    };
  },
);
