/** What is computed from headers: times of DAA scores, and hash rates. */
import { type NodeClient, NodeRpcError } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import { meet } from '../differences.ts';
import { firstDifference } from './first-difference.ts';
import { chunks, inParallel } from './in-parallel.ts';
import type { NodeDag } from './node-dag.ts';

const SCORES_AT_ONCE = 1000;

/** Every score from genesis to the sink, and some above. */
export async function compareTimes(node: NodeClient, api: ApiClient, dag: NodeDag): Promise<string[]> {
  const wrong: string[] = [];
  const sinkScore = dag.sink.header.daaScore;
  const upToSink = Array.from({ length: Number(sinkScore) + 1 }, (_, score) => BigInt(score));
  const above = [1n, 2n, 600n, 1_000_000n].map((more) => sinkScore + more);
  await inParallel(chunks([...above, ...upToSink], SCORES_AT_ONCE), async (daaScores) => {
    const { timestamps } = await node.call('getDaaScoreTimestampEstimate', { daaScores });
    const expected = daaScores.map((score, place) => {
      const fromNode = timestamps[place] ?? 0n;
      // The node is exact at genesis, at the sink, and says the same as the API above it.
      const time = score > 0n && score < sinkScore ? timeOf(score, dag) : fromNode;
      if (time !== fromNode) meet('timesBetweenSamples');
      return String(time);
    });
    const answer = await api.post('/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: daaScores.map(String) });
    const difference = firstDifference({ status: 200, body: { timestamps: expected } }, answer);
    if (difference !== undefined) wrong.push(`getDaaScoreTimestampEstimate from ${daaScores[0]}: ${difference}`);
  });
  return wrong;
}

/** By the chain: the time of its block with this score, or between its two neighbours, in the node's own arithmetic. */
function timeOf(score: bigint, { chain, blocks, genesis }: NodeDag): bigint {
  const aboveIndex = chain.findIndex(({ header }) => header.daaScore > score);
  const above = chain[aboveIndex]?.header;
  const below = chain[aboveIndex - 1]?.header ?? blocks.get(genesis)?.header;
  if (above === undefined || below === undefined) throw new Error(`no chain blocks around DAA score ${score}`);
  const duration = Math.max(0, Number(above.timestamp - below.timestamp));
  const share = Number(score - below.daaScore) / Number(above.daaScore - below.daaScore);
  return below.timestamp + BigInt(Math.trunc(duration * share));
}

const WINDOWS = [1000, 1001, 1500, 10_000];

/** Of the virtual block, and of every `every`-th block. */
export async function compareHashRates(
  node: NodeClient,
  api: ApiClient,
  dag: NodeDag,
  { every }: { every: number },
): Promise<string[]> {
  const wrong: string[] = [];
  const starts = [...dag.blocks.keys()].filter((_hash, index) => index % every === 0);
  await inParallel(['', dag.sink.hash, ...starts], async (startHash) => {
    for (const windowSize of WINDOWS) {
      const query = startHash === '' ? '' : `&startHash=${startHash}`;
      const [expected, answer] = await Promise.all([
        nodeHashRate(node, windowSize, startHash),
        api.get(`/v1/rpc/estimateNetworkHashesPerSecond?windowSize=${windowSize}${query}`),
      ]);
      const actual = answer.status === 200 ? String(answer.body['networkHashesPerSecond']) : answer.status;
      if (actual !== expected)
        wrong.push(`hash rate, ${windowSize} blocks before ${startHash}: node ${expected}, API ${actual}`);
    }
  });
  return wrong;
}

/** The rate, or the status that stands for the node's refusal. */
async function nodeHashRate(node: NodeClient, windowSize: number, startHash: string): Promise<string | number> {
  try {
    // The node takes all ones for the virtual block.
    const request = { windowSize, startHash: startHash === '' ? 'ff'.repeat(32) : startHash };
    return String((await node.call('estimateNetworkHashesPerSecond', request)).networkHashesPerSecond);
  } catch (error) {
    const isTooFew = /under min allowed window size|window data has only \d+ entries/;
    if (error instanceof NodeRpcError && isTooFew.test(error.message)) return 409;
    throw error;
  }
}
