/**
 * Sends every recorded request to the replay, at its checkpoint and over gRPC. The response must equal the recorded one, but for orders that
 * are not fixed (comparable.ts).
 */
import { NodeServer } from '@kasgres/devnet';
import { NodeClient, NodeRpcError, type Op, type protocol } from '@kasgres/node';
import { afterAll, expect, test } from 'vitest';
import { comparable } from './comparable.ts';
import { type RecordedCall, readRecording, recordingDirectory } from './recording.ts';
import { ReplayNode } from './replay-node.ts';

/** Operations whose responses do not follow from the DAG and the mempool, with the reason. */
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
const client = new NodeClient({ url: server.url });

afterAll(async () => {
  await client.close();
  server.close();
});

for (const [index, { name, calls }] of recording.checkpoints.entries()) {
  const replayed = calls.filter(isReplayed);
  test(`the replay responds to ${replayed.length} of ${calls.length} calls at checkpoint ${name} as recorded`, async () => {
    if (index > 0) node.moveOn();
    expect(node.checkpoint.name).toBe(name);
    for (const { op, request, response: recorded } of replayed) {
      if (isAboutUtxos(request) && node.acceptedByVirtual() === undefined) continue;
      const response = await respond(op as Op, request);
      const description = `${op} ${JSON.stringify(request.payload.value, printable)}`;
      if (response instanceof NodeRpcError) {
        expect(recorded.payload.value, description).toMatchObject({ error: { message: response.message } });
        continue;
      }
      if (node.mayHaveSeenMoreSompi) allowHigherSupply(response, recorded);
      expect(comparable(response, node.dag), description).toEqual(comparable(recorded, node.dag));
    }
  });
}

async function respond(op: Op, { payload }: protocol.KaspadRequest): Promise<protocol.KaspadResponse | NodeRpcError> {
  try {
    const value = await client.call(op, payload.value as never);
    return { $typeName: 'protowire.KaspadResponse', id: 0n, payload: { case: `${op}Response`, value } as never };
  } catch (error) {
    if (error instanceof NodeRpcError) return error;
    throw error;
  }
}

/** Tells whether the response is about the virtual block: it is unknown if the recording lacks what that accepts. */
function isAboutUtxos({ payload }: protocol.KaspadRequest): boolean {
  return /^get(Balances?ByAddress|UtxosByAddresses|CoinSupply)/.test(payload.case ?? '');
}

function allowHigherSupply({ payload }: protocol.KaspadResponse, { payload: recorded }: protocol.KaspadResponse): void {
  if (payload.case !== 'getCoinSupplyResponse' || recorded.case !== 'getCoinSupplyResponse') return;
  expect(payload.value.circulatingSompi).toBeLessThanOrEqual(recorded.value.circulatingSompi);
  payload.value.circulatingSompi = recorded.value.circulatingSompi;
}

/** Operations that our protocol does not describe have no readable payload. */
function isReplayed({ op, request }: RecordedCall): boolean {
  return request.payload.case !== undefined && NOT_REPLAYED[op] === undefined;
}

function printable(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
