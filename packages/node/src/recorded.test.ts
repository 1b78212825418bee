import { type DescMessage, fromBinary, toJson } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { decodeBlockResponse, decodeBlocksResponse, decodeVirtualChainResponse } from './decode-responses.ts';
import { encodeRequest, readEnvelope } from './envelope.ts';
import { NodeRpcError } from './errors.ts';
import {
  type GetBlockResponse,
  GetBlockResponseSchema,
  GetBlocksResponseSchema,
  GetVirtualChainFromBlockResponseSchema,
  KaspadRequestSchema,
  KaspadResponseSchema,
} from './generated/kaspad_pb.ts';
import { blockOf, blocksOf, virtualChainOf } from './testing/model-of-message.ts';
import { readRecordedCalls, recordedFiles } from './testing/recorded-calls.ts';

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
