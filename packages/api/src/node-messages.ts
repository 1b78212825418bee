/** Reading the node's messages: protobuf has no required parts, our answers do. */
import { NodeProtocolError } from '@kasgres/node';

/** @throws NodeProtocolError when the node left the part out */
export function required<T>(part: T | undefined, name: string): T {
  if (part === undefined) throw new NodeProtocolError(`The node's answer has no ${name}`);
  return part;
}
