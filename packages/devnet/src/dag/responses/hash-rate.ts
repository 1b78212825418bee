/**
 * estimateNetworkHashesPerSecond: blue work over time in a window of the heaviest blocks below a
 * block.
 * Source: rusty-kaspa, `build_block_window` with sample rate 1 and
 * `internal_estimate_network_hashes_per_second`.
 */
import { type Network, networkHashesPerSecond } from '@kasgres/kaspa';
import { compareByBlueWork, type Dag, type DagBlock } from '../dag.ts';
import { NodeResponseError } from '../node-state.ts';
import { sinkAnticone } from './get-blocks.ts';

const MIN_WINDOW_SIZE = 1000;
const MAX_SAFE_WINDOW_SIZE = 10_000;

/**
 * `start` undefined: the virtual block. Throws `NodeResponseError` where kaspad responds with an
 * error.
 */
export function hashesPerSecond(
  dag: Dag,
  network: Network,
  request: { start: DagBlock | undefined; windowSize: number; isUnsafeRpc: boolean },
): bigint {
  const { windowSize, start } = request;
  if (!request.isUnsafeRpc && windowSize > MAX_SAFE_WINDOW_SIZE) {
    throw new NodeResponseError(
      `Requested window size ${windowSize} is larger than max ${MAX_SAFE_WINDOW_SIZE} allowed in RPC safe mode.`,
    );
  }
  if (BigInt(windowSize) > network.pruningDepth) {
    throw new NodeResponseError(
      `Requested window size ${windowSize} is larger than pruning point depth ${network.pruningDepth}.`,
    );
  }
  if (start !== undefined && start.selectedParent === undefined) {
    throw new NodeResponseError(
      'difficulty error: window data has only 0 entries -- this usually happens when the node has just began syncing',
    );
  }
  const window = heaviestBelow(dag, start, network.difficultyWindowBlueScores).slice(0, windowSize);
  const [heaviest, lightest] = [window[0], window.at(-1)];
  if (window.length < MIN_WINDOW_SIZE || heaviest === undefined || lightest === undefined) {
    throw new NodeResponseError(
      `difficulty error: under min allowed window size (${window.length} < ${MIN_WINDOW_SIZE})`,
    );
  }
  const timestamps = window.map((block) => block.header.timestamp);
  const minTimestamp = timestamps.reduce((least, timestamp) => (timestamp < least ? timestamp : least));
  const maxTimestamp = timestamps.reduce((greatest, timestamp) => (timestamp > greatest ? timestamp : greatest));
  if (minTimestamp === maxTimestamp) {
    throw new NodeResponseError('difficulty error: min window timestamp is equal to the max window timestamp');
  }
  const maxBlueWork = heaviest.header.blueWork;
  const minBlueWork = lightest.header.blueWork;
  return networkHashesPerSecond({ maxBlueWork, minBlueWork, minTimestamp, maxTimestamp });
}

/**
 * Returns the past of a block without genesis and without blocks merged too late to count for the
 * difficulty, heaviest first.
 */
function heaviestBelow(dag: Dag, start: DagBlock | undefined, difficultyWindow: bigint): DagBlock[] {
  const counted: DagBlock[] = [];
  const addMergeSet = (mergeSet: readonly DagBlock[], blueScore: bigint) => {
    const lowest = blueScore - difficultyWindow;
    counted.push(...mergeSet.filter((block) => block.selectedParent !== undefined && block.header.blueScore >= lowest));
  };
  if (start === undefined) addMergeSet([dag.sink, ...sinkAnticone(dag)], dag.virtual.blueScore);
  for (let block = start ?? dag.sink; block.selectedParent !== undefined; block = block.selectedParent) {
    addMergeSet(block.mergeSet, block.header.blueScore);
  }
  return counted.sort((a, b) => compareByBlueWork(b, a));
}
