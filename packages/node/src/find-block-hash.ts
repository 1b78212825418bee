/** The name of a block that does not parse, for the error that says so. */
import { bytesTag, WireReader } from './wire-reader.ts';

const BLOCK_HEADER = bytesTag(1);
const HEADER_HASH = bytesTag(15);
const BLOCK_VERBOSE_DATA = bytesTag(3);
const VERBOSE_HASH = bytesTag(1);

/** `block` is a Block message. The hash as the node wrote it, from the header or the verbose data, whichever can be read. */
export function findBlockHash(block: Uint8Array): string | undefined {
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
    // It is malformed: that is why it is being named.
  }
  return undefined;
}
