/** Bytes as hexadecimal text. Kaspa shows bytes in the order in which they are stored, so nothing is ever reversed. */

const HEX = /^(?:[0-9a-f]{2})*$/i;

export class HexError extends Error {
  override name = 'HexError';
}

/** Lower-case hex, two digits a byte. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/**
 * Reads hex digits of either case; '' is no bytes.
 * @throws HexError when the text has an odd length or anything but hex digits
 */
export function fromHex(text: string): Uint8Array {
  // Buffer.from stops silently at the first bad pair, and takes some characters beyond ASCII for digits.
  if (!HEX.test(text)) {
    throw new HexError(`Not hexadecimal: ${JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)}`);
  }
  return Buffer.from(text, 'hex');
}
