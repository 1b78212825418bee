/**
 * Blocks as the source of the indexer hands them on, without a node: they hash to their names,
 * their transactions to their ids.
 */
import { digest, withDerived } from '@kasgres/devnet';
import {
  COINBASE_SUBNETWORK,
  difficultyFromBits,
  encodeCoinbasePayload,
  genesisBlock,
  type Header,
  headerHash,
  merkleRoot,
  type Network,
  type ScriptPublicKey,
} from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';

export interface Reward {
  /** Sompi. */
  amount: number;
  scriptPublicKey: ScriptPublicKey;
}

export interface BlockOptions {
  /** Distinguishes this block from all others. */
  number: number;
  genesis: RpcBlock;
  selectedParent: RpcBlock;
  /** The selected parent first. */
  blues: readonly RpcBlock[];
  reds: readonly RpcBlock[];
  blueWork: bigint;
  bits: number;
  /** Unix milliseconds. */
  timestamp: bigint;
  miner: { scriptPublicKey: ScriptPublicKey; extraData: string; subsidy: number };
  rewards: readonly Reward[];
  payments: readonly RpcTransaction[];
}

export function makeBlock(options: BlockOptions): RpcBlock {
  const { number, genesis, selectedParent, blues, reds, bits } = options;
  const blueScore = selectedParent.header.blueScore + BigInt(blues.length);
  const transactions = [makeCoinbase(blueScore, options), ...options.payments];
  const merged = [...blues, ...reds];
  const header: Header = {
    version: 1,
    parentsByLevel: [merged.map(({ hash }) => hash), [selectedParent.hash], [genesis.hash]],
    hashMerkleRoot: merkleRoot(transactions.map(({ hash }) => hash)),
    acceptedIdMerkleRoot: digest(['accepted', number]),
    utxoCommitment: digest(['utxos', number]),
    timestamp: options.timestamp,
    bits,
    nonce: BigInt(number),
    daaScore: selectedParent.header.daaScore + BigInt(merged.length),
    blueWork: options.blueWork,
    blueScore,
    pruningPoint: genesis.hash,
  };
  return {
    ...genesis,
    hash: headerHash(header),
    header,
    transactions,
    difficulty: difficultyFromBits(bits),
    selectedParentHash: selectedParent.hash,
    mergeSetBluesHashes: blues.map(({ hash }) => hash),
    mergeSetRedsHashes: reds.map(({ hash }) => hash),
    blueScore,
    isChainBlock: false,
  };
}

export function makeGenesis(network: Network): RpcBlock {
  const { header, transactions } = genesisBlock(network);
  return {
    hash: network.genesisHash,
    header,
    transactions: transactions.map(withDerived),
    difficulty: difficultyFromBits(header.bits),
    selectedParentHash: header.pruningPoint,
    mergeSetBluesHashes: [],
    mergeSetRedsHashes: [],
    childrenHashes: [],
    transactionIds: [],
    blueScore: 0n,
    isHeaderOnly: false,
    isChainBlock: true,
  };
}

function makeCoinbase(blueScore: bigint, { miner, rewards }: BlockOptions): RpcTransaction {
  const { scriptPublicKey, extraData, subsidy } = miner;
  return withDerived({
    version: 0,
    inputs: [],
    outputs: rewards.map((reward) => ({
      amount: BigInt(reward.amount),
      scriptPublicKey: reward.scriptPublicKey,
      covenant: undefined,
    })),
    lockTime: 0n,
    subnetworkId: COINBASE_SUBNETWORK,
    gas: 0n,
    payload: encodeCoinbasePayload({
      blueScore,
      subsidy: BigInt(subsidy),
      scriptPublicKey,
      extraData: Buffer.from(extraData),
    }),
    storageMass: 0n,
  });
}
