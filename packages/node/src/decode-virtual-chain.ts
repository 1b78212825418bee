/** The answer of getVirtualChainFromBlock from the wire to the model, by hand. Field numbers: protocol/kaspad.proto. */
import type { Hash } from '@kasgres/kaspa';
import { NodeProtocolError } from './errors.ts';
import { HexReader } from './hex-reader.ts';
import type { AcceptedTransactionIds, VirtualChainResponse } from './model.ts';
import { decodeRpcError, RPC_ERROR } from './rpc-error.ts';
import { bytesTag } from './wire-reader.ts';

const REMOVED = bytesTag(1);
const ACCEPTED = bytesTag(2);
const ADDED = bytesTag(3);

const ACCEPTING_BLOCK_HASH = bytesTag(1);
const TRANSACTION_IDS = bytesTag(2);

/** `body` is the getVirtualChainFromBlockResponse message. Throws NodeRpcError where the node answered with an error. */
export function decodeVirtualChainResponse(body: Uint8Array): VirtualChainResponse {
  const reader = new HexReader(body);
  const removedChainBlockHashes: Hash[] = [];
  const addedChainBlockHashes: Hash[] = [];
  const acceptedTransactionIds: AcceptedTransactionIds[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ADDED) addedChainBlockHashes.push(reader.hash());
    else if (tag === ACCEPTED) acceptedTransactionIds.push(decodeAccepted(reader));
    else if (tag === REMOVED) removedChainBlockHashes.push(reader.hash());
    else if (tag === RPC_ERROR) throw decodeRpcError(reader, 'getVirtualChainFromBlock');
    else reader.skip(tag);
  }
  reader.leave(body.length);
  return { removedChainBlockHashes, addedChainBlockHashes, acceptedTransactionIds, wireBytes: body.length };
}

function decodeAccepted(reader: HexReader): AcceptedTransactionIds {
  const outerEnd = reader.enter();
  let acceptingBlockHash: Hash | undefined;
  const ids: Hash[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === TRANSACTION_IDS) ids.push(reader.hash());
    else if (tag === ACCEPTING_BLOCK_HASH) acceptingBlockHash = reader.hash();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (acceptingBlockHash === undefined) throw new NodeProtocolError('accepted ids lack their accepting block');
  return { acceptingBlockHash, acceptedTransactionIds: ids };
}
