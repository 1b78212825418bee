/**
 * Sends every recorded request to the replay, at its checkpoint and over gRPC. The response must
 * equal the recorded one, but for orders that are not fixed.
 */
import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Dag, NodeServer } from '@kasgres/devnet';
import { NodeClient, NodeRpcError, type Op, protocol } from '@kasgres/node';
import { afterAll, expect, test } from 'vitest';
import { type RecordedCall, readRecording, recordingDirectory } from './recording.ts';
import { ReplayNode } from './replay-node.ts';

/** Operations whose responses do not follow from the DAG and the mempool, with the reason. */
const NOT_REPLAYED: Readonly<Record<string, string>> = {
  getFeeEstimate: "comes from the node's own model of its mempool",
  getFeeEstimateExperimental: "comes from the node's own model of its mempool",
  getConnectedPeerInfo: 'a replay has no peers',
  submitTransaction: 'a replay accepts no transactions',
  submitTransactionReplacement: 'a replay accepts no transactions',
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
    if (index > 0) node.nextCheckpoint();
    expect(node.checkpoint.name).toBe(name);
    for (const { op, request, response: recorded } of replayed) {
      if (isAboutUtxos(request) && node.acceptedByVirtual() === undefined) continue;
      const response = await respond(op as Op, request);
      const description = `${op} ${JSON.stringify(request.payload.value, printable)}`;
      if (response instanceof NodeRpcError) {
        expect(recorded.payload.value, description).toMatchObject({ error: { message: response.message } });
        continue;
      }
      if (node.mayReportHigherSupply) allowHigherSupply(response, recorded);
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

/**
 * Tells whether the response is about the virtual block: it is unknown if the recording lacks what
 * that accepts.
 */
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

/**
 * Returns the response as JSON in a form to compare, without the request's id, the node's p2p id
 * and the size of its mempool (a sample in getInfo). Items without a fixed order are sorted:
 * children, tips and virtual parents, blocks of getBlocks beyond the sink, UTXOs, mempool entries,
 * and addresses. Tips and children that no recorded response has are left out: the virtual block
 * does not merge them. Changes the response.
 * @param dag as it was at the time of the response
 */
function comparable(response: protocol.KaspadResponse, dag: Dag): JsonValue {
  const { payload } = response;
  if (payload.case === 'getInfoResponse') Object.assign(payload.value, { p2pId: '', mempoolSize: 0n });
  sortBlocks(payload, dag);
  sortListings(payload);
  return toJson(protocol.KaspadResponseSchema, { ...response, id: 0n });
}

function sortBlocks(payload: protocol.KaspadResponse['payload'], dag: Dag): void {
  if (payload.case === 'getBlockResponse' && payload.value.block !== undefined) sortChildren(payload.value.block, dag);
  if (payload.case === 'getBlocksResponse') {
    const { blocks, blockHashes } = payload.value;
    const sink = dag.sink.hash;
    payload.value.blockHashes = sortedBehind(blockHashes, sink, (hash) => hash);
    payload.value.blocks = sortedBehind(blocks, sink, ({ verboseData }) => verboseData?.hash ?? '');
    for (const block of payload.value.blocks) sortChildren(block, dag);
  }
  if (payload.case === 'getBlockDagInfoResponse') {
    payload.value.tipHashes = knownAndSorted(payload.value.tipHashes, dag);
    payload.value.virtualParentHashes.sort();
  }
}

function sortListings(payload: protocol.KaspadResponse['payload']): void {
  if (payload.case === 'getUtxosByAddressesResponse') {
    sortBy(payload.value.entries, ({ outpoint }) => `${outpoint?.transactionId}:${outpoint?.index}`);
  }
  if (payload.case === 'getMempoolEntriesResponse') sortBy(payload.value.entries, mempoolEntryId);
  if (payload.case === 'getMempoolEntriesByAddressesResponse') {
    sortBy(payload.value.entries, ({ address }) => address);
    for (const { sending, receiving } of payload.value.entries) {
      sortBy(sending, mempoolEntryId);
      sortBy(receiving, mempoolEntryId);
    }
  }
}

function sortChildren({ verboseData }: protocol.Block, dag: Dag): void {
  if (verboseData !== undefined) verboseData.childrenHashes = knownAndSorted(verboseData.childrenHashes, dag);
}

function knownAndSorted(hashes: readonly string[], dag: Dag): string[] {
  return hashes.filter((hash) => dag.find(hash) !== undefined).sort();
}

/** Sorts the items beyond the sink. A page that does not reach the sink stays as it is. */
function sortedBehind<T>(items: T[], sink: string, hashOf: (item: T) => string): T[] {
  const end = items.findIndex((item) => hashOf(item) === sink) + 1;
  return end === 0 ? items : [...items.slice(0, end), ...sortBy(items.slice(end), hashOf)];
}

function mempoolEntryId({ transaction }: protocol.MempoolEntry): string {
  return transaction?.verboseData?.transactionId ?? '';
}

function sortBy<T>(items: T[], key: (item: T) => string): T[] {
  return items.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
