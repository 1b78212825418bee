/** Sources that follow simulated nodes without a database. */
import { type OwnChain, Source } from '@kasgres/indexer/testing';
import { getNetwork } from '@kasgres/kaspa';
import { NodeClient } from '@kasgres/node';
import { onTestEnd, SEED } from '../support/harness.ts';
import { SimulatedDag } from '../support/simulated-dag.ts';

const notAsked = {} as OwnChain;

/** Stops after the test. */
export async function startSimulatedDag(
  name: string,
  simulation?: Parameters<typeof SimulatedDag.start>[3],
): Promise<SimulatedDag> {
  const simulatedDag = await SimulatedDag.start(`${SEED} ${name}`, undefined, undefined, simulation);
  onTestEnd(() => simulatedDag.stop());
  return simulatedDag;
}

/** Both stop after the test. */
export async function openSource(
  { server }: SimulatedDag,
  limits: { batchTransactions: number; maxBytesAhead: number },
): Promise<{ client: NodeClient; source: Source }> {
  const client = new NodeClient({ url: server.url, streams: 3 });
  onTestEnd(() => client.close());
  await client.waitUntilConnected();
  const stop = new AbortController();
  onTestEnd(() => stop.abort());
  const source = new Source({
    node: client,
    network: getNetwork('simnet'),
    ownChain: notAsked,
    limits: { pageStreams: 2, ...limits },
    signal: stop.signal,
  });
  return { client, source };
}
