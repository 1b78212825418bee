/**
 * Decodes the responses of getBlock, getBlocks and getVirtualChainFromBlock into the model by hand,
 * since a catch-up consists of them. The error of a malformed block names it. Field numbers are
 * those of protocol/kaspad.proto.
 */
import type { Hash, Header } from '@kasgres/kaspa';
import { decodeHeader } from './decode-header.ts';
import { decodeTransaction } from './decode-transaction.ts';
import { NodeProtocolError, NodeRpcError } from './errors.ts';
import { HexReader } from './hex-reader.ts';
import type {
  AcceptedTransactionIds,
  BlocksResponse,
  RpcBlock,
  RpcTransaction,
  VirtualChainResponse,
} from './model.ts';
import { bytesTag, fixed64Tag, varintTag, WireReader } from './wire-reader.ts';

const RESPONSE_BLOCK = bytesTag(3);
const RESPONSE_BLOCK_HASHES = bytesTag(4);

const BLOCK_HEADER = bytesTag(1);
const BLOCK_TRANSACTIONS = bytesTag(2);
const BLOCK_VERBOSE_DATA = bytesTag(3);

const VERBOSE_HASH = bytesTag(1);
const VERBOSE_DIFFICULTY = fixed64Tag(11);
const VERBOSE_SELECTED_PARENT = bytesTag(13);
const VERBOSE_TRANSACTION_IDS = bytesTag(14);
const VERBOSE_IS_HEADER_ONLY = varintTag(15);
const VERBOSE_BLUE_SCORE = varintTag(16);
const VERBOSE_CHILDREN = bytesTag(17);
const VERBOSE_MERGE_SET_BLUES = bytesTag(18);
const VERBOSE_MERGE_SET_REDS = bytesTag(19);
const VERBOSE_IS_CHAIN_BLOCK = varintTag(20);

type VerboseData = Omit<RpcBlock, 'header' | 'transactions'>;

/**
 * `body` is the getBlocksResponse message. Throws NodeRpcError if the node responds with an error.
 */
export function decodeBlocksResponse(body: Uint8Array): BlocksResponse {
  const reader = new HexReader(body);
  const blockHashes: Hash[] = [];
  const blocks: RpcBlock[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === RESPONSE_BLOCK) blocks.push(decodeBlock(reader, blocks.length));
    else if (tag === RESPONSE_BLOCK_HASHES) blockHashes.push(reader.hash());
    else if (tag === RPC_ERROR) throw decodeRpcError(reader, 'getBlocks');
    else reader.skip(tag);
  }
  reader.leave(body.length);
  return { blockHashes, blocks, wireBytes: body.length };
}

/**
 * Yields the blocks of a getBlocksResponse message, so that only one of them is in memory. Errors
 * of the node are skipped.
 */
export function* decodeBlocks(body: Uint8Array): Generator<RpcBlock> {
  const reader = new WireReader(body);
  for (let index = 0; reader.more; ) {
    const tag = reader.tag();
    const start = reader.position;
    reader.skip(tag);
    if (tag === RESPONSE_BLOCK) yield decodeBlock(new HexReader(body, start, reader.position), index++);
  }
}

/**
 * `body` is the getBlockResponse message. Throws NodeRpcError if the node responds with an error.
 */
export function decodeBlockResponse(body: Uint8Array): RpcBlock {
  const reader = new HexReader(body);
  let block: RpcBlock | undefined;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === RESPONSE_BLOCK) block = decodeBlock(reader, 0);
    else if (tag === RPC_ERROR) throw decodeRpcError(reader, 'getBlock');
    else reader.skip(tag);
  }
  reader.leave(body.length);
  if (block === undefined) throw new NodeProtocolError('getBlock returned no block');
  return block;
}

function decodeBlock(reader: HexReader, index: number): RpcBlock {
  const outerEnd = reader.enter();
  const { position: start, end } = reader;
  try {
    const block = decodeBlockFields(reader);
    reader.leave(outerEnd);
    return block;
  } catch (error) {
    if (!(error instanceof NodeProtocolError)) throw error;
    const name = findBlockHash(reader.bytes.subarray(start, end)) ?? `number ${index + 1} of the response`;
    throw new NodeProtocolError(`block ${name}: ${error.message}`, { cause: error });
  }
}

function decodeBlockFields(reader: HexReader): RpcBlock {
  let header: Header | undefined;
  let headerHash: Hash | undefined;
  let verboseData: VerboseData | undefined;
  const transactions: RpcTransaction[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === BLOCK_TRANSACTIONS) transactions.push(decodeTransaction(reader));
    else if (tag === BLOCK_HEADER) ({ header, hash: headerHash } = decodeHeader(reader));
    else if (tag === BLOCK_VERBOSE_DATA) verboseData = decodeVerboseData(reader, transactions.length > 0);
    else reader.skip(tag);
  }
  if (header === undefined || verboseData === undefined) {
    throw new NodeProtocolError('it lacks its header or its verbose data');
  }
  if (headerHash !== undefined && Buffer.compare(headerHash, verboseData.hash) !== 0) {
    throw new NodeProtocolError('its header and its verbose data name different hashes');
  }
  return { ...verboseData, header, transactions };
}

function decodeVerboseData(reader: HexReader, hasTransactions: boolean): VerboseData {
  const outerEnd = reader.enter();
  let hash: Hash | undefined;
  let selectedParentHash: Hash | undefined;
  let difficulty = 0;
  let blueScore = 0n;
  let isHeaderOnly = false;
  let isChainBlock = false;
  const transactionIds: Hash[] = [];
  const childrenHashes: Hash[] = [];
  const mergeSetBluesHashes: Hash[] = [];
  const mergeSetRedsHashes: Hash[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === VERBOSE_TRANSACTION_IDS && !hasTransactions) transactionIds.push(reader.hash());
    else if (tag === VERBOSE_CHILDREN) childrenHashes.push(reader.hash());
    else if (tag === VERBOSE_MERGE_SET_BLUES) mergeSetBluesHashes.push(reader.hash());
    else if (tag === VERBOSE_MERGE_SET_REDS) mergeSetRedsHashes.push(reader.hash());
    else if (tag === VERBOSE_HASH) hash = reader.hash();
    else if (tag === VERBOSE_SELECTED_PARENT) selectedParentHash = reader.hash();
    else if (tag === VERBOSE_DIFFICULTY) difficulty = reader.double();
    else if (tag === VERBOSE_BLUE_SCORE) blueScore = reader.uint64();
    else if (tag === VERBOSE_IS_HEADER_ONLY) isHeaderOnly = reader.bool();
    else if (tag === VERBOSE_IS_CHAIN_BLOCK) isChainBlock = reader.bool();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (hash === undefined || selectedParentHash === undefined) {
    throw new NodeProtocolError('its verbose data lack the hash or the selected parent');
  }
  return {
    hash,
    difficulty,
    selectedParentHash,
    mergeSetBluesHashes,
    mergeSetRedsHashes,
    childrenHashes,
    transactionIds,
    blueScore,
    isHeaderOnly,
    isChainBlock,
  };
}

const REMOVED = bytesTag(1);
const ACCEPTED = bytesTag(2);
const ADDED = bytesTag(3);

const ACCEPTING_BLOCK_HASH = bytesTag(1);
const TRANSACTION_IDS = bytesTag(2);

/**
 * `body` is the getVirtualChainFromBlockResponse message. Throws NodeRpcError if the node responds
 * with an error.
 */
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

const HEADER_HASH = bytesTag(15);

/**
 * Returns the hash of a Block message, from its verbose data or its header, whichever can be read.
 */
function findBlockHash(block: Uint8Array): string | undefined {
  return findText(block, BLOCK_VERBOSE_DATA, VERBOSE_HASH) ?? findText(block, BLOCK_HEADER, HEADER_HASH);
}

function findText(message: Uint8Array, outerTag: number, innerTag: number): string | undefined {
  const reader = new WireReader(message);
  try {
    while (reader.more) {
      const tag = reader.tag();
      if (tag === outerTag) {
        reader.enter();
        while (reader.more) {
          const inner = reader.tag();
          if (inner === innerTag) return reader.text().slice(0, 64);
          reader.skip(inner);
        }
        return undefined;
      }
      reader.skip(tag);
    }
  } catch {
    // The block is malformed, so the hash may be unreadable too.
  }
  return undefined;
}

/** The tag of the error in every response message. */
const RPC_ERROR = bytesTag(1000);

const ERROR_MESSAGE = bytesTag(1);

/** `reader` is at the length of the message. */
function decodeRpcError(reader: WireReader, op: string): NodeRpcError {
  const outerEnd = reader.enter();
  let message = '';
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ERROR_MESSAGE) message = reader.text();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  return new NodeRpcError(op, message);
}
