import { isDeepStrictEqual } from 'node:util';
import {
  CoinbasePayloadError,
  encodeCoinbasePayload,
  MAX_SOMPI,
  type ScriptPublicKey,
  scriptToAddress,
  toHex,
} from '@kasgres/kaspa';
import { type Op, protocol, toOutpointMessage } from '@kasgres/node';
import { acceptedBy, notOnItsChain, type VirtualChain, virtualChainFrom } from '../dag/responses/chain.ts';
import { timestampsOfDaaScores } from '../dag/responses/daa-timestamps.ts';
import { blocksFrom } from '../dag/responses/get-blocks.ts';
import { hashesPerSecond } from '../dag/responses/hash-rate.ts';
import { isBlue, rewardInfo } from '../dag/responses/merging.ts';
import type { DagBlock } from '../dag/dag.ts';
import {
  type MempoolEntry,
  type MempoolFilter,
  NodeResponseError,
  type NodeState,
  type SubmitBlockResult,
} from '../dag/node-state.ts';
import { acceptedTransactionsMessage } from './accepted-transactions.ts';
import type { ReceivedRequest, ResponseInit } from './calls.ts';
import { readAddress, readBlock, readHash, readTransaction } from './from-messages.ts';
import {
  blockMessage,
  hashesOf,
  headerMessage,
  mempoolEntryMessage,
  templateMessage,
  utxoEntryMessage,
} from './to-messages.ts';

type Responses = { readonly [O in Op]: (state: NodeState, request: ReceivedRequest<O>) => ResponseInit<O> };

/** A start hash that means the virtual block, for compatibility with the Go node. */
const VIRTUAL = 'ff'.repeat(32);
/** kaspad's estimate while no block is full: the least fee rate that it relays. */
const QUIET_BUCKET = { feerate: 100, estimatedSeconds: 0.0004072 };
const QUIET_FEES = {
  priorityBucket: QUIET_BUCKET,
  normalBuckets: [QUIET_BUCKET, QUIET_BUCKET],
  lowBuckets: [QUIET_BUCKET],
};

const RejectReason = protocol.SubmitBlockResponse_RejectReason;
const SUBMIT_BLOCK_RESPONSES: Record<SubmitBlockResult, ResponseInit<'submitBlock'>> = {
  accepted: { rejectReason: RejectReason.NONE },
  invalid: rejection(RejectReason.BLOCK_INVALID, 'block is invalid'),
  'in-ibd': rejection(RejectReason.IS_IN_IBD, 'node is not synced'),
};
const BlockColor = protocol.GetBlockRewardInfoResponse_BlockColor;
const DataVerbosityLevel = protocol.GetVirtualChainFromBlockV2Request_DataVerbosityLevel;

/** Each function may throw `NodeResponseError`, which becomes an error response. */
export const responses: Responses = {
  ping: () => ({}),
  getInfo: (state) => ({
    p2pId: '00000000-0000-4000-8000-000000000000',
    mempoolSize: BigInt(state.mempoolEntries({ includeOrphanPool: false, filterTransactionPool: false }).length),
    serverVersion: state.serverVersion,
    isUtxoIndexed: state.isUtxoIndexed,
    isSynced: state.isSynced,
    hasNotifyCommand: true,
    hasMessageId: true,
  }),
  getServerInfo: (state) => ({
    rpcApiVersion: 1,
    rpcApiRevision: 0,
    serverVersion: state.serverVersion,
    networkId: state.network.id,
    hasUtxoIndex: state.isUtxoIndexed,
    isSynced: state.isSynced,
    virtualDaaScore: state.dag.virtual.daaScore,
  }),
  getSyncStatus: (state) => ({ isSynced: state.isSynced }),
  getCurrentNetwork: (state) => ({ currentNetwork: state.network.name }),
  getConnectedPeerInfo: () => ({ infos: [] }),
  addPeer: () => {
    throw new NodeResponseError('Method unavailable in safe mode. Run the node with --unsaferpc argument.');
  },

  getBlockDagInfo: ({ dag, network, pruningPoint }) => ({
    networkName: `kaspa-${network.id}`,
    ...blockCounts(dag.virtual.daaScore, network.genesisDaaScore),
    tipHashes: hashesOf(dag.tips()),
    difficulty: dag.virtual.difficulty,
    pastMedianTime: dag.virtual.pastMedianTime,
    virtualParentHashes: hashesOf(dag.virtual.parents),
    pruningPointHash: pruningPoint,
    virtualDaaScore: dag.virtual.daaScore,
    sink: dag.sink.hash,
  }),
  getBlockCount: ({ dag, network }) => blockCounts(dag.virtual.daaScore, network.genesisDaaScore),
  getSink: ({ dag }) => ({ sink: dag.sink.hash }),
  getSinkBlueScore: ({ dag }) => ({ blueScore: dag.sink.header.blueScore }),
  getBlock: (state, request) => ({
    block: blockMessage(knownBlock(state, request.hash), request.includeTransactions, state.network.addressPrefix),
  }),
  getBlocks: (state, request) => {
    if (request.includeTransactions && !request.includeBlocks) {
      throw new NodeResponseError('If includeTransactions is set, then includeBlockVerboseData must be set as well.');
    }
    const low = knownBlock(state, request.lowHash === '' ? state.dag.genesis.hash : request.lowHash);
    const blocks = blocksFrom(state.dag, low, state.network.mergesetSizeLimit);
    return {
      blockHashes: hashesOf(blocks),
      blocks: request.includeBlocks
        ? blocks.map((block) => blockMessage(block, request.includeTransactions, state.network.addressPrefix))
        : [],
    };
  },
  getVirtualChainFromBlock: (state, request) => {
    const chain = virtualChain(state, request, request.includeAcceptedTransactionIds);
    return {
      ...chainHashes(chain),
      acceptedTransactionIds: request.includeAcceptedTransactionIds ? chain.added.map(acceptedIdsMessage) : [],
    };
  },
  getVirtualChainFromBlockV2: (state, request) => {
    const level = request.dataVerbosityLevel ?? DataVerbosityLevel.FULL;
    const chain = virtualChain(state, request, true);
    const context = { dag: state.dag, level, prefix: state.network.addressPrefix };
    return {
      ...chainHashes(chain),
      chainBlockAcceptedTransactions: chain.added.map((block) => acceptedTransactionsMessage(block, context)),
    };
  },
  getCurrentBlockColor: ({ dag }, request) => ({ blue: isBlue(dag, readHash(request.hash)) }),
  getBlockRewardInfo: (state, request) => {
    const block = knownBlock(state, request.hash);
    const { color, merged, rewardAmount } = rewardInfo(state.dag, block);
    return {
      header: headerMessage(block.header, block.hash),
      blockColor: { unknown: BlockColor.UNKNOWN, blue: BlockColor.BLUE, red: BlockColor.RED }[color],
      ...(merged && {
        confirmationCount: merged.confirmationCount,
        mergingChainBlockHash: merged.mergingBlock.hash,
      }),
      ...(rewardAmount !== undefined && { rewardAmount }),
    };
  },
  estimateNetworkHashesPerSecond: (state, { startHash, windowSize }) => {
    const hash = startHash === '' ? VIRTUAL : readHash(startHash);
    const start = hash === VIRTUAL ? undefined : knownBlock(state, hash);
    const isUnsafeRpc = state.isUnsafeRpc ?? false;
    return { networkHashesPerSecond: hashesPerSecond(state.dag, state.network, { start, windowSize, isUnsafeRpc }) };
  },
  getDaaScoreTimestampEstimate: ({ dag, network }, request) => ({
    timestamps: timestampsOfDaaScores(dag, network, request.daaScores),
  }),
  getSubnetwork: () => {
    throw new NodeResponseError('Not implemented');
  },
  // The simulation has no sequencing commitments.
  getSeqCommitLaneProof: () => {
    throw new NodeResponseError('Not implemented');
  },

  getUtxosByAddresses: (state, request) => {
    const scripts = distinct(request.addresses.map(readAddress));
    return {
      entries: indexed(state, () =>
        scripts.flatMap((script) =>
          state.utxos(script).map((utxo) => ({
            address: ownAddress(state, script),
            outpoint: toOutpointMessage(utxo.outpoint),
            utxoEntry: utxoEntryMessage(utxo),
          })),
        ),
      ),
    };
  },
  getBalanceByAddress: (state, { address }) => {
    const script = readAddress(address);
    return { balance: indexed(state, () => state.balance(script)) };
  },
  getBalancesByAddresses: (state, { addresses }) => {
    const scripts = addresses.map((address) => ({ address, script: readAddress(address) }));
    return {
      entries: indexed(state, () =>
        scripts.map(({ address, script }) => ({ address, balance: state.balance(script) })),
      ),
    };
  },
  getCoinSupply: (state) => ({
    maxSompi: MAX_SOMPI,
    circulatingSompi: indexed(state, () => state.circulatingSompi()),
  }),

  getMempoolEntry: (state, request) => {
    const id = readHash(request.txId);
    const entry = state.findMempoolEntry(id, mempoolFilter(request));
    if (entry === undefined) throw new NodeResponseError(`Transaction ${id} not found`);
    return { entry: mempoolEntryMessage(entry, state.network.addressPrefix) };
  },
  getMempoolEntries: (state, request) => ({
    entries: entryMessages(state, state.mempoolEntries(mempoolFilter(request))),
  }),
  getMempoolEntriesByAddresses: (state, request) => {
    const scripts = distinct(request.addresses.map(readAddress));
    const filter = mempoolFilter(request);
    return {
      entries: scripts.map((script) => {
        const { sending, receiving } = state.mempoolEntriesByScript(script, filter);
        return {
          address: ownAddress(state, script),
          sending: entryMessages(state, sending),
          receiving: entryMessages(state, receiving),
        };
      }),
    };
  },
  getFeeEstimate: () => ({ estimate: QUIET_FEES }),
  getFeeEstimateExperimental: () => ({ estimate: QUIET_FEES }),
  submitTransaction: (state, { transaction, allowOrphan }) => ({
    transactionId: toHex(state.submitTransaction(readTransaction(transaction), allowOrphan)),
  }),
  submitTransactionReplacement: () => {
    throw new NodeResponseError('Not implemented');
  },

  getBlockTemplate: (state, { payAddress, extraData }) => {
    const script = readAddress(payAddress);
    const prefix = payAddress.slice(0, payAddress.indexOf(':'));
    if (prefix !== state.network.addressPrefix) {
      throw new NodeResponseError(`The address has an invalid prefix ${prefix}`);
    }
    checkCoinbasePayload(script, Buffer.from(`${state.serverVersion}/${extraData}`));
    const template = state.blockTemplate(script, Buffer.from(extraData));
    return { block: templateMessage(template), isSynced: state.isSynced };
  },
  submitBlock: (state, request) => {
    const { header, transactions } = readBlock(request.block);
    return SUBMIT_BLOCK_RESPONSES[state.submitBlock(header, transactions)];
  },
};

function knownBlock({ dag }: NodeState, hash: string): DagBlock {
  const key = readHash(hash);
  const block = dag.find(key);
  if (block !== undefined) return block;
  // Its header is kept permanently.
  if (key === dag.genesis.hash) throw new NodeResponseError(`some data is missing for block ${key}`);
  throw new NodeResponseError(`cannot find header ${key}`);
}

/** The node estimates both from DAA scores. */
function blockCounts(virtualDaaScore: bigint, genesisDaaScore: bigint) {
  const count = virtualDaaScore - genesisDaaScore;
  return { blockCount: count, headerCount: count };
}

function isPrunedGenesis({ dag }: NodeState, hash: string): boolean {
  return hash === dag.genesis.hash && dag.find(hash) === undefined;
}

function virtualChain(
  state: NodeState,
  request: { startHash: string; minConfirmationCount?: bigint | undefined },
  withAccepted: boolean,
): VirtualChain {
  if (isPrunedGenesis(state, request.startHash)) throw notOnItsChain();
  return virtualChainFrom(state.dag, {
    start: knownBlock(state, request.startHash),
    minConfirmationCount: request.minConfirmationCount ?? 0n,
    withAccepted,
    mergeSetSizeLimit: state.network.mergesetSizeLimit,
  });
}

function chainHashes({ removed, added }: VirtualChain) {
  return { removedChainBlockHashes: hashesOf(removed), addedChainBlockHashes: hashesOf(added) };
}

export function acceptedIdsMessage(chainBlock: DagBlock) {
  return {
    acceptingBlockHash: chainBlock.hash,
    acceptedTransactionIds: acceptedBy(chainBlock).map(({ transaction }) => toHex(transaction.transactionId)),
  };
}

function mempoolFilter({ includeOrphanPool, filterTransactionPool }: MempoolFilter): MempoolFilter {
  if (filterTransactionPool && !includeOrphanPool) {
    throw new NodeResponseError('transaction query must either not filter transactions or include orphans');
  }
  return { includeOrphanPool, filterTransactionPool };
}

function entryMessages({ network }: NodeState, entries: readonly MempoolEntry[]) {
  return entries.map((entry) => mempoolEntryMessage(entry, network.addressPrefix));
}

/** kaspad accepts addresses of other networks and responds with its own. */
function ownAddress({ network }: NodeState, script: ScriptPublicKey): string {
  return scriptToAddress(script, network.addressPrefix) ?? '';
}

function indexed<T>(state: NodeState, ask: () => T): T {
  if (!state.isUtxoIndexed) {
    throw new NodeResponseError('Method unavailable. Run the node with the --utxoindex argument.');
  }
  return ask();
}

function distinct(scripts: readonly ScriptPublicKey[]): ScriptPublicKey[] {
  return scripts.filter((script, index) => scripts.findIndex((other) => isDeepStrictEqual(other, script)) === index);
}

function checkCoinbasePayload(scriptPublicKey: ScriptPublicKey, extraData: Uint8Array): void {
  try {
    encodeCoinbasePayload({ blueScore: 0n, subsidy: 0n, scriptPublicKey, extraData });
  } catch (error) {
    if (!(error instanceof CoinbasePayloadError)) throw error;
    throw new NodeResponseError('Coinbase payload is above max length (204). Try to shorten the extra data.', {
      cause: error,
    });
  }
}

function rejection(rejectReason: protocol.SubmitBlockResponse_RejectReason, reason: string) {
  return { rejectReason, error: { message: `Block was not submitted: ${reason}` } };
}
