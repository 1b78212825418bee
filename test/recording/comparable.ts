/**
 * Answers in a form in which two of them can be compared: as JSON, without the request's id, the node's own p2p id and the size
 * of its mempool (in getInfo it is a sample, taken now and then). Taken away are the orders that the node does not fix: children
 * of a block; tips and virtual parents; what getBlocks lists behind the sink; UTXOs, mempool entries, and addresses in an answer
 * about several. Left out are tips and children that no recorded answer holds: blocks that the virtual block does not merge.
 */
import { type JsonValue, toJson } from '@bufbuild/protobuf';
import type { Dag } from '@kasgres/devnet';
import { protocol } from '@kasgres/node';

/** Changes the answer in place. `dag`: as it was when the answer was given. */
export function comparable(response: protocol.KaspadResponse, dag: Dag): JsonValue {
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

/** Sorts what comes behind the sink; a page that does not reach the sink stays as it is. */
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
