/** Responses by the generated code: for every call that is not hot. */
import { fromBinary } from '@bufbuild/protobuf';
import type { AnyOp, ResponseCase, ResponseOf } from './calls.ts';
import { getResponseField } from './envelope.ts';
import { NodeProtocolError, NodeRpcError } from './errors.ts';
import type { RpcError } from './generated/kaspad_pb.ts';

/** `body` is the response message of the op. Throws NodeRpcError where the node answered with an error. */
export function decodeResponse<O extends AnyOp>(op: O, body: Uint8Array): ResponseOf<O> {
  const response = parseBody(`${op}Response`, body) as { error?: RpcError };
  if (response.error !== undefined) throw new NodeRpcError(op, response.error.message);
  return response as ResponseOf<O>;
}

/** A member of KaspadResponse by its field name. Throws NodeProtocolError. */
export function parseBody(name: ResponseCase, body: Uint8Array): unknown {
  try {
    // Fields that we do not know would be kept as views of the body, which is not ours for long.
    return fromBinary(getResponseField(name).message, body, { readUnknownFields: false });
  } catch (error) {
    throw new NodeProtocolError(`malformed ${name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
