/** The state of the index: the checkpoint and its block. */
import { getNetwork, type Network, toHex } from '@kasgres/kaspa';
import { type RawBuilder, sql } from 'kysely';

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
  starts: number;
  gaps: number;
}

/** Selects the state as JSON, with 64-bit numbers as text; null while nothing is indexed. */
export const stateJson: RawBuilder<unknown> = sql`(
  select json_build_object(
    'begunAt', meta.created_at, 'version', checkpoint.version::text, 'network', meta.network, 'sinkId', checkpoint.block_id::text,
    'sinkHash', encode(blocks.hash, 'hex'), 'sinkChainIndex', checkpoint.chain_index::text,
    'sinkBlueScore', blocks.blue_score::text, 'sinkBlueWork', blocks.blue_work::text,
    'sinkDaaScore', blocks.daa_score::text, 'sinkTimestamp', blocks.timestamp::text,
    'virtualMergeSet', checkpoint.virtual_merge_set::text[], 'circulatingSompi', checkpoint.circulating_sompi::text,
    'firstCatchUp', checkpoint.first_catch_up, 'targetBlueScore', checkpoint.target_blue_score::text,
    'secondsLeft', checkpoint.seconds_left,
    'firstBlock', (
      select encode(first.hash, 'hex') from chain_blocks join blocks first on first.id = chain_blocks.block_id
      order by chain_blocks.index limit 1),
    'starts', (select count(*) from starts), 'gaps', (select count(*) from gaps))
  from checkpoint cross join meta join blocks on blocks.id = checkpoint.block_id)`;

type Text<T> = { [Name in keyof T]: T[Name] extends bigint ? string : T[Name] extends bigint[] ? string[] : T[Name] };

/** @param json selected with `stateJson` */
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
