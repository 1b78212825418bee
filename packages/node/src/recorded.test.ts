import { type DescMessage, fromBinary, toJson } from '@bufbuild/protobuf';
import { type Covenant, fromHex, type Hash, parseBlueWork } from '@kasgres/kaspa';
import { describe, expect, it } from 'vitest';
import {
  decodeBlockResponse,
  decodeBlocks,
  decodeBlocksResponse,
  decodeVirtualChainResponse,
} from './decode-responses.ts';
import { encodeRequest, readEnvelope } from './envelope.ts';
import { NodeRpcError } from './errors.ts';
import type * as protocol from './generated/kaspad_pb.ts';
import {
  type GetBlockResponse,
  GetBlockResponseSchema,
  GetBlocksResponseSchema,
  GetVirtualChainFromBlockResponseSchema,
  KaspadRequestSchema,
  KaspadResponseSchema,
} from './generated/kaspad_pb.ts';
import type { BlocksResponse, RpcBlock, RpcTransaction, VirtualChainResponse } from './model.ts';
import { readRecordedCalls, recordedFiles } from './testing/recorded-calls.ts';

/**
 * Converts messages of the generated code to the model: the oracle of the hand-written decoders.
 */
function blocksOf(message: protocol.GetBlocksResponse, wireBytes: number): BlocksResponse {
  return { blockHashes: message.blockHashes.map(bytes), blocks: message.blocks.map(modelOfBlock), wireBytes };
}

function virtualChainOf(message: protocol.GetVirtualChainFromBlockResponse, wireBytes: number): VirtualChainResponse {
  return {
    wireBytes,
    removedChainBlockHashes: message.removedChainBlockHashes.map(bytes),
    addedChainBlockHashes: message.addedChainBlockHashes.map(bytes),
    acceptedTransactionIds: message.acceptedTransactionIds.map((accepted) => ({
      acceptingBlockHash: bytes(accepted.acceptingBlockHash),
      acceptedTransactionIds: accepted.acceptedTransactionIds.map(bytes),
    })),
  };
}

function blockOf(message: protocol.Block | undefined): RpcBlock {
  return modelOfBlock(given(message));
}

function modelOfBlock(message: protocol.Block): RpcBlock {
  const header = given(message.header);
  const verboseData = given(message.verboseData);
  const transactions = message.transactions.map(transactionOf);
  return {
    hash: bytes(verboseData.hash),
    header: {
      version: header.version,
      parentsByLevel: header.parents.map(({ parentHashes }) => parentHashes.map(bytes)),
      hashMerkleRoot: bytes(header.hashMerkleRoot),
      acceptedIdMerkleRoot: bytes(header.acceptedIdMerkleRoot),
      utxoCommitment: bytes(header.utxoCommitment),
      timestamp: header.timestamp,
      bits: header.bits,
      nonce: header.nonce,
      daaScore: header.daaScore,
      blueWork: parseBlueWork(header.blueWork),
      blueScore: header.blueScore,
      pruningPoint: bytes(header.pruningPoint),
    },
    transactions,
    difficulty: verboseData.difficulty,
    selectedParentHash: bytes(verboseData.selectedParentHash),
    mergeSetBluesHashes: verboseData.mergeSetBluesHashes.map(bytes),
    mergeSetRedsHashes: verboseData.mergeSetRedsHashes.map(bytes),
    childrenHashes: verboseData.childrenHashes.map(bytes),
    transactionIds: transactions.length > 0 ? [] : verboseData.transactionIds.map(bytes),
    blueScore: verboseData.blueScore,
    isHeaderOnly: verboseData.isHeaderOnly,
    isChainBlock: verboseData.isChainBlock,
  };
}

function transactionOf(message: protocol.Transaction): RpcTransaction {
  const verboseData = given(message.verboseData);
  return {
    transactionId: bytes(verboseData.transactionId),
    hash: bytes(verboseData.hash),
    version: message.version,
    inputs: message.inputs.map((input) => ({
      previousOutpoint: {
        transactionId: bytes(given(input.previousOutpoint).transactionId),
        index: given(input.previousOutpoint).index,
      },
      signatureScript: bytes(input.signatureScript),
      sequence: input.sequence,
      sigOpCount: input.sigOpCount,
      computeBudget: input.computeBudget,
    })),
    outputs: message.outputs.map((output) => ({
      amount: output.amount,
      scriptPublicKey: {
        version: given(output.scriptPublicKey).version,
        script: bytes(given(output.scriptPublicKey).scriptPublicKey),
      },
      covenant: covenantOf(output.covenant),
    })),
    lockTime: message.lockTime,
    subnetworkId: bytes(message.subnetworkId),
    gas: message.gas,
    payload: bytes(message.payload),
    storageMass: message.storageMass,
  };
}

function covenantOf(covenant: protocol.Covenant | undefined): Covenant | undefined {
  if (covenant === undefined) return undefined;
  return { authorizingInput: covenant.authorizingInput, covenantId: bytes(covenant.covenantId) };
}

/** Returns a Uint8Array like the decoders: Vitest does not consider a Buffer equal to it. */
function bytes(hex: string): Hash {
  return new Uint8Array(fromHex(hex));
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a message within the message is missing');
  return value;
}

/** Operations of the node that the product has no use for. */
const NOT_DESCRIBED = new Set([
  'getHeaders',
  'getPeerAddresses',
  'getMetrics',
  'getConnections',
  'getSystemInfo',
  'getUtxoReturnAddress',
]);

/** The hot decoders, each with the plain way to the same result. */
const byHand = {
  getBlocks: {
    decode: decodeBlocksResponse,
    parse: (body: Uint8Array) => fromBinary(GetBlocksResponseSchema, body),
    model: blocksOf,
  },
  getBlock: {
    decode: decodeBlockResponse,
    parse: (body: Uint8Array) => fromBinary(GetBlockResponseSchema, body),
    model: (message: GetBlockResponse) => blockOf(message.block),
  },
  getVirtualChainFromBlock: {
    decode: decodeVirtualChainResponse,
    parse: (body: Uint8Array) => fromBinary(GetVirtualChainFromBlockResponseSchema, body),
    model: virtualChainOf,
  },
};

describe.each(recordedFiles())('the responses of a real node in %s', (path) => {
  const calls = [...readRecordedCalls(path)].filter(({ op }) => !NOT_DESCRIBED.has(op));

  it('have the recorded JSON if decoded by the generated code', () => {
    for (const call of calls) {
      expect(jsonOfPayload(KaspadResponseSchema, call.raw, `${call.op}Response`), call.name).toEqual(call.response);
    }
    expect(calls.length).toBeGreaterThan(200);
  });

  it('belong to requests that the encoder reproduces byte by byte from their JSON', () => {
    for (const call of calls) {
      expect(jsonOfPayload(KaspadRequestSchema, call.requestRaw, `${call.op}Request`), call.name).toMatchObject(
        call.request as object,
      );
      const { payload } = fromBinary(KaspadRequestSchema, call.requestRaw);
      expect(payload.case, call.name).toBe(`${call.op}Request`);
      const encoded = encodeRequest(0, call.op as 'getInfo', payload.value as object);
      expect(Buffer.from(encoded).toString('hex'), call.name).toBe(Buffer.from(call.requestRaw).toString('hex'));
    }
  });

  it('are decoded equally by hand and by the generated code', () => {
    let compared = 0;
    for (const call of calls.filter(({ op }) => op in byHand)) {
      const { decode, parse, model } = byHand[call.op as keyof typeof byHand];
      const { body } = readEnvelope(call.raw);
      const message = parse(body);
      if (message.error === undefined) expect(decode(body), call.name).toEqual(model(message as never, body.length));
      else expect(() => decode(body), call.name).toThrow(new NodeRpcError(call.op, message.error.message));
      if (call.op === 'getBlocks' && message.error === undefined) {
        expect([...decodeBlocks(body)], call.name).toEqual(decodeBlocksResponse(body).blocks);
      }
      compared++;
    }
    expect(compared).toBeGreaterThan(30);
  });
});

/** The member of the envelope's union that the call is about, as JSON with default values. */
function jsonOfPayload(schema: DescMessage, bytes: Uint8Array, name: string): unknown {
  const json = toJson(schema, fromBinary(schema, bytes), { alwaysEmitImplicit: true });
  return (json as Record<string, unknown>)[name];
}
