/**
 * The node of bench/memory.ts as a separate process: `node bench/memory-node.ts <blocks> <filling> <parents per level>` sends its URL to its
 * parent. It responds as the simulated node does, except that blocks are encoded beforehand: encoding a page of the smallest transactions takes
 * longer than a client waits.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { protocol } from '@kasgres/node';
import { blocksFrom } from '../packages/devnet/src/dag/responses/get-blocks.ts';
import type { DagBlock } from '../packages/devnet/src/dag/dag.ts';
import { responses } from '../packages/devnet/src/rpc/responses.ts';
import { isNotifyOp, operationOf, type ReceivedRequest, responsePayload } from '../packages/devnet/src/rpc/calls.ts';
import { blockMessage } from '../packages/devnet/src/rpc/to-messages.ts';
import { type Filling, openLargeChain } from './memory-chain.ts';

const RESPONSE_ID = 101;
const GET_BLOCKS_RESPONSE = 1032;
const BLOCK = 3;
const BLOCK_HASH = 4;

const [blocks, filling, parentsPerLevel] = process.argv.slice(2) as [string, Filling, string];
const state = openLargeChain(Number(blocks), filling, Number(parentsPerLevel));
/** Payloads are encoded quickly, and all of them would not fit into memory. */
const encoded =
  filling === 'payload' ? undefined : new Map(state.dag.chainBlocks.map((block) => [block, encode(block)]));

const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
const bytes = (buffer: Buffer): Buffer => buffer;
server.addService(
  {
    messageStream: {
      path: '/protowire.RPC/MessageStream',
      requestStream: true,
      responseStream: true,
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    },
  },
  {
    messageStream: (stream: ServerDuplexStream<Buffer, Buffer>) => {
      stream.on('data', (request: Buffer) => stream.write(Buffer.from(respond(request))));
      stream.on('error', () => undefined);
      stream.on('end', () => stream.end());
    },
  },
);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.send?.(`grpc://127.0.0.1:${port}`);
});
process.once('disconnect', () => process.exit());

function respond(bytesOfRequest: Buffer): Uint8Array {
  const { id, payload } = fromBinary(protocol.KaspadRequestSchema, bytesOfRequest);
  if (payload.case === 'getBlocksRequest' && payload.value.includeTransactions) return page(id, payload.value);
  const op = operationOf(payload);
  if (op === undefined) throw new Error('an empty request');
  const value = isNotifyOp(op) ? {} : (responses[op] as (...of: unknown[]) => object)(state, payload.value);
  const response = create(protocol.KaspadResponseSchema, { id, payload: responsePayload(op, value) });
  return toBinary(protocol.KaspadResponseSchema, response);
}

function page(id: bigint, { lowHash }: ReceivedRequest<'getBlocks'>): Uint8Array {
  const found = blocksFrom(state.dag, state.dag.get(lowHash), state.network.mergesetSizeLimit);
  const value = new BinaryWriter();
  for (const block of found) value.tag(BLOCK, WireType.LengthDelimited).bytes(encoded?.get(block) ?? encode(block));
  for (const { hash } of found) value.tag(BLOCK_HASH, WireType.LengthDelimited).string(hash);
  const response = new BinaryWriter().tag(RESPONSE_ID, WireType.Varint).uint64(id);
  return response.tag(GET_BLOCKS_RESPONSE, WireType.LengthDelimited).bytes(value.finish()).finish();
}

function encode(block: DagBlock): Uint8Array {
  const message = create(protocol.BlockSchema, blockMessage(block, true, state.network.addressPrefix));
  return toBinary(protocol.BlockSchema, message);
}
