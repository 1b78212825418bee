/**
 * The replay answers as the recorded node did: every recorded call goes to it at its checkpoint, over gRPC, and its answer must
 * equal the recorded one whole (`comparable.ts` says which orders are not fixed). Left out are only the operations below.
 */
import { NodeServer } from '@kasgres/devnet';
import type { protocol } from '@kasgres/node';
import { afterAll, expect, test } from 'vitest';
import { comparable } from './comparable.ts';
import { recordingDirectory } from './directory.ts';
import { RawClient } from './raw-client.ts';
import { type RecordedCall, readRecording } from './recording.ts';
import { ReplayNode } from './replay-node.ts';

/** What does not follow from the DAG and the pools, with the reason. */
const NOT_REPLAYED: Readonly<Record<string, string>> = {
  getFeeEstimate: "comes from the node's own model of its mempool",
  getFeeEstimateExperimental: "comes from the node's own model of its mempool",
  getConnectedPeerInfo: 'a replay has no peers',
  submitTransaction: 'a replay takes no transactions',
  submitTransactionReplacement: 'a replay takes no transactions',
};

const recording = await readRecording(recordingDirectory);
const node = new ReplayNode(recording);
const server = await NodeServer.start({ state: node });
const client = new RawClient(server.url);

afterAll(() => {
  client.close();
  server.close();
});

for (const [index, { name, calls }] of recording.checkpoints.entries()) {
  const replayed = calls.filter(isReplayed);
  test(`${name}: ${replayed.length} of ${calls.length} recorded calls are answered as they were`, async () => {
    if (index > 0) node.moveOn();
    expect(node.checkpoint.name).toBe(name);
    for (const { op, request, response } of replayed) {
      if (isAboutUtxos(request) && node.acceptedByVirtual() === undefined) continue;
      const answer = await client.ask(request);
      const description = `${op} ${JSON.stringify(request.payload.value, printable)}`;
      if (node.mayHaveSeenMoreSompi) allowHigherSupply(answer, response);
      expect(comparable(answer, node.dag), description).toEqual(comparable(response, node.dag));
    }
  });
}

/** Balances, UTXOs and supply are of the virtual block: unknown where the recording does not say what it accepts. */
function isAboutUtxos({ payload }: protocol.KaspadRequest): boolean {
  return /^get(Balances?ByAddress|UtxosByAddresses|CoinSupply)/.test(payload.case ?? '');
}

function allowHigherSupply(
  { payload: answer }: protocol.KaspadResponse,
  { payload: recorded }: protocol.KaspadResponse,
) {
  if (answer.case !== 'getCoinSupplyResponse' || recorded.case !== 'getCoinSupplyResponse') return;
  expect(answer.value.circulatingSompi).toBeLessThanOrEqual(recorded.value.circulatingSompi);
  answer.value.circulatingSompi = recorded.value.circulatingSompi;
}

/** Operations that our protocol does not describe have no payload that it could read. */
function isReplayed({ op, request }: RecordedCall): boolean {
  return request.payload.case !== undefined && NOT_REPLAYED[op] === undefined;
}

function printable(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
