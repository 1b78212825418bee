/** The `error` field that every response of the node may carry. */
import { NodeRpcError } from './errors.ts';
import { bytesTag, type WireReader } from './wire-reader.ts';

/** Its tag in each response message. */
export const RPC_ERROR = bytesTag(1000);

const MESSAGE = bytesTag(1);

/** `reader` stands at the length of the message. */
export function decodeRpcError(reader: WireReader, op: string): NodeRpcError {
  const outerEnd = reader.enter();
  let message = '';
  while (reader.more) {
    const tag = reader.tag();
    if (tag === MESSAGE) message = reader.text();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  return new NodeRpcError(op, message);
}
