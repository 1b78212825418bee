/**
 * The supported networks and their parameters (rusty-kaspa, consensus/core/src/config). All run at
 * ten blocks per second. A private network may override its parameters, and no RPC reports them.
 */
import type { AddressPrefix } from './address.ts';
import { fromHex } from './format.ts';
import type { Hash } from './model.ts';

export type NetworkId = 'mainnet' | 'testnet-10' | 'simnet' | 'devnet';

/** A known point of a chain: the time (Unix milliseconds) of the block at a DAA score. */
export interface DaaTimestamp {
  daaScore: bigint;
  timestamp: bigint;
}

/**
 * Before this DAA score blocks came at another rate, and their merkle roots did not cover the
 * storage mass (KIP-14).
 */
export interface Crescendo {
  activationDaaScore: bigint;
  targetTimePerBlockMsBefore: number;
}

export interface Network {
  /** As in the node's getServerInfo. */
  id: NetworkId;
  /** As in the node's getCurrentNetwork. */
  name: 'mainnet' | 'testnet' | 'simnet' | 'devnet';
  addressPrefix: AddressPrefix;
  genesisHash: Hash;
  genesisDaaScore: bigint;
  genesisTimestamp: bigint;
  targetTimePerBlockMs: number;
  /** The hard fork to ten blocks per second; undefined if the network began with ten. */
  crescendo: Crescendo | undefined;
  /** From this DAA score on the subsidy falls every month. */
  deflationDaaScore: bigint;
  /** In blue score: a node refuses reorgs below it. */
  finalityDepth: bigint;
  /**
   * In blue score: the depth from which work that is slow or impossible to undo relies on a chain
   * block. The finality depth on the public networks, less on test networks, which are short.
   */
  settledDepth: bigint;
  /** In blue score: a node keeps at least this much of the past. */
  pruningDepth: bigint;
  /** In DAA score: the age from which a coinbase can be spent. */
  coinbaseMaturity: bigint;
  ghostdagK: number;
  mergesetSizeLimit: number;
  /**
   * A block merged by one more than this above its blue score counts neither for difficulty nor for
   * DAA scores.
   */
  difficultyWindowBlueScores: bigint;
  /** The port of gRPC. */
  rpcPort: number;
  p2pPort: number;
  /** Points up to the genesis of mainnet, ascending. */
  daaTimestamps: readonly DaaTimestamp[];
}

const TEN_BLOCKS_A_SECOND = {
  targetTimePerBlockMs: 100,
  deflationDaaScore: 155_196_000n,
  finalityDepth: 432_000n,
  pruningDepth: 1_080_000n,
  coinbaseMaturity: 1_000n,
  ghostdagK: 124,
  mergesetSizeLimit: 248,
  difficultyWindowBlueScores: 26_440n,
  crescendo: undefined,
};

const mainnet: Network = {
  ...TEN_BLOCKS_A_SECOND,
  deflationDaaScore: 15_519_600n,
  id: 'mainnet',
  name: 'mainnet',
  addressPrefix: 'kaspa',
  settledDepth: TEN_BLOCKS_A_SECOND.finalityDepth,
  genesisHash: fromHex('58c2d4199e21f910d1571d114969cecef48f09f934d42ccb6a281a15868f2999'),
  genesisDaaScore: 1_312_860n,
  genesisTimestamp: 1_637_609_671_037n,
  crescendo: { activationDaaScore: 110_165_000n, targetTimePerBlockMsBefore: 1_000 },
  rpcPort: 16110,
  p2pPort: 16111,
  // The pruning points of the replaced chain, which are built into every node.
  daaTimestamps: [
    { daaScore: 0n, timestamp: 1_636_298_787_842n },
    { daaScore: 87_133n, timestamp: 1_636_386_662_010n },
    { daaScore: 176_797n, timestamp: 1_636_473_700_804n },
    { daaScore: 264_837n, timestamp: 1_636_560_706_885n },
    { daaScore: 355_974n, timestamp: 1_636_650_005_662n },
    { daaScore: 445_152n, timestamp: 1_636_737_841_327n },
    { daaScore: 536_709n, timestamp: 1_636_828_600_930n },
    { daaScore: 624_635n, timestamp: 1_636_912_614_350n },
    { daaScore: 712_234n, timestamp: 1_636_999_362_832n },
    { daaScore: 801_831n, timestamp: 1_637_088_292_662n },
    { daaScore: 890_716n, timestamp: 1_637_174_890_675n },
    { daaScore: 978_396n, timestamp: 1_637_260_956_454n },
    { daaScore: 1_068_387n, timestamp: 1_637_349_078_269n },
    { daaScore: 1_139_626n, timestamp: 1_637_418_723_538n },
    { daaScore: 1_218_320n, timestamp: 1_637_495_941_516n },
    { daaScore: 1_312_860n, timestamp: 1_637_609_671_037n },
  ],
};

const testnet10: Network = {
  ...TEN_BLOCKS_A_SECOND,
  deflationDaaScore: 15_519_600n,
  id: 'testnet-10',
  name: 'testnet',
  addressPrefix: 'kaspatest',
  settledDepth: TEN_BLOCKS_A_SECOND.finalityDepth,
  genesisHash: fromHex('f896a3034873be1739fc4359236899fd3d65d2bc94f9780df0d0da3eb1cc4370'),
  genesisDaaScore: 0n,
  genesisTimestamp: 1_633_687_894_966n,
  crescendo: { activationDaaScore: 88_657_000n, targetTimePerBlockMsBefore: 1_000 },
  rpcPort: 16210,
  p2pPort: 16211,
  daaTimestamps: [],
};

const simnet: Network = {
  ...TEN_BLOCKS_A_SECOND,
  id: 'simnet',
  name: 'simnet',
  addressPrefix: 'kaspasim',
  settledDepth: 100n,
  genesisHash: fromHex('411f8cd26f3d41aea39e78573927da24d23995705b579f30959b9127e96b79e3'),
  genesisDaaScore: 0n,
  genesisTimestamp: 1_633_687_894_966n,
  rpcPort: 16510,
  p2pPort: 16511,
  daaTimestamps: [],
};

const devnet: Network = {
  ...TEN_BLOCKS_A_SECOND,
  id: 'devnet',
  name: 'devnet',
  addressPrefix: 'kaspadev',
  settledDepth: 100n,
  genesisHash: fromHex('4cb48d0b2073b802360145a15ad1abdc01d89b5c2fe4722630ab9b5fe9dfc4f2'),
  genesisDaaScore: 0n,
  genesisTimestamp: 1_231_006_505_000n,
  rpcPort: 16610,
  p2pPort: 16611,
  daaTimestamps: [],
};

export const networks: readonly Network[] = [mainnet, testnet10, simnet, devnet];

export function findNetwork(id: string): Network | undefined {
  return networks.find((network) => network.id === id);
}

/** @throws Error if the network is unknown */
export function getNetwork(id: string): Network {
  const network = findNetwork(id);
  if (network === undefined) {
    throw new Error(`Unknown network ${JSON.stringify(id)}: known are ${networks.map(({ id }) => id).join(', ')}`);
  }
  return network;
}
