/** Hash rates and times of DAA scores. */
import { estimateTimestamp } from '@kasgres/kaspa';
import { Findings, requests, type Harness, statusOf } from './harness.ts';

const MIN_WINDOW = 1000;
const MAX_WINDOW = 10_000;

export async function compareHashRates(harness: Harness): Promise<Findings> {
  const findings = new Findings();
  for (const { request, response } of requests(harness, 'estimateNetworkHashesPerSecond')) {
    const { windowSize, startHash } = request;
    const parameters = { windowSize: String(windowSize), ...(startHash !== '' && { startHash }) };
    const query = new URLSearchParams(parameters).toString();
    const answer = await harness.api.get(`/v1/rpc/estimateNetworkHashesPerSecond?${query}`);
    findings.compare(`hash rate for ${query}`, answer, wantedHashRate(windowSize, response));
  }
  return findings;
}

/** The recorded node answers for larger windows than it does in safe mode, and for smaller ones with another error. */
function wantedHashRate(
  windowSize: number,
  { networkHashesPerSecond, error }: { networkHashesPerSecond: bigint; error?: { message: string } | undefined },
) {
  if (windowSize < MIN_WINDOW || windowSize > MAX_WINDOW) return { status: 400 };
  if (error !== undefined) return { status: statusOf(error.message) };
  return { body: { networkHashesPerSecond: String(networkHashesPerSecond) } };
}

/**
 * The API's times are exact: that of the chain block with the score, or between the two beside it. The node interpolates between
 * samples; the two must be equal at these (genesis, the sink, every third of the chain) and from the sink up.
 */
export async function compareTimestamps(harness: Harness): Promise<Findings> {
  const { dag, network } = harness.node;
  const chain = dag.chainBlocks.map(({ header }) => ({ daaScore: header.daaScore, timestamp: header.timestamp }));
  const step = Math.max(Math.floor((chain.length - 1) / 3), 1);
  const sampled = new Set(chain.filter((_, index) => index % step === 0).map(({ daaScore }) => daaScore));
  const findings = new Findings();
  for (const { request, response } of requests(harness, 'getDaaScoreTimestampEstimate')) {
    const answer = await harness.api.post('/v1/rpc/getDaaScoreTimestampEstimate', {
      daaScores: request.daaScores.map(String),
    });
    const timestamps = request.daaScores.map((daaScore, place) =>
      sampled.has(daaScore) || daaScore >= dag.sink.header.daaScore
        ? String(response.timestamps[place])
        : String(estimateTimestamp(daaScore, chain, network)),
    );
    findings.compare('times of DAA scores', answer, { body: { timestamps } });
  }
  return findings;
}
