/** The state of the index: the checkpoint and its block. */
import { getNetwork, type Network, toHex } from '@kasgres/kaspa';

/** Times are Unix milliseconds, amounts sompi. */
export interface IndexState {
  /** When the index was begun. */
  begunAt: string;
  /** Grows with each change of the checkpoint. */
  version: bigint;
  network: Network;
  /** Key of the sink. */
  sinkId: bigint;
  sinkHash: string;
  sinkChainIndex: bigint;
  sinkBlueScore: bigint;
  /** Decimal digits. */
  sinkBlueWork: string;
  sinkDaaScore: bigint;
  sinkTimestamp: bigint;
  /** Keys of the blocks, other than the sink, that the virtual block would merge. */
  virtualMergeSet: bigint[];
  circulatingSompi: bigint;
  firstCatchUp: boolean;
  targetBlueScore: bigint;
  secondsLeft: number | null;
  /** Hash of the first indexed chain block; null if that is genesis. */
  firstBlock: string | null;
  /** Numbers of bootstrap blocks and of gaps. */
  bootstrapBlocks: number;
  gaps: number;
}

type Text<T> = { [Name in keyof T]: T[Name] extends bigint ? string : T[Name] extends bigint[] ? string[] : T[Name] };

/** @param json the result of the function index_state of the database */
export function parseState(json: Buffer | string): IndexState {
  const state = JSON.parse(String(json)) as Text<Omit<IndexState, 'network'>> & { network: string };
  const network = getNetwork(state.network);
  return {
    ...state,
    version: BigInt(state.version),
    network,
    sinkId: BigInt(state.sinkId),
    sinkChainIndex: BigInt(state.sinkChainIndex),
    sinkBlueScore: BigInt(state.sinkBlueScore),
    sinkDaaScore: BigInt(state.sinkDaaScore),
    sinkTimestamp: BigInt(state.sinkTimestamp),
    virtualMergeSet: state.virtualMergeSet.map(BigInt),
    circulatingSompi: BigInt(state.circulatingSompi),
    targetBlueScore: BigInt(state.targetBlueScore),
    firstBlock: state.firstBlock === toHex(network.genesisHash) ? null : state.firstBlock,
  };
}
