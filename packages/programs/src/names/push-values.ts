/**
 * Values of pushes as text. A value that does not fit its type is shown as hex, so that nothing is
 * hidden.
 */
import { hexOf } from '../hex.ts';

export const PUSH_TYPES = [
  'bytes',
  'int',
  'bool',
  'text',
  'amount',
  'pubkey',
  'hash',
  'covenant_id',
  'script',
] as const;

/**
 * `int` and `amount`, which is in sompi, are script numbers. All others but `bool` and `text` are
 * bytes.
 */
export type PushType = (typeof PUSH_TYPES)[number];

const MAX_NUMBER_BYTES = 8;
const PRINTABLE = /^[\x20-\x7e]*$/;

export function formatPush(value: Uint8Array, type: PushType): string {
  if (type === 'int' || type === 'amount') return readScriptNumber(value)?.toString() ?? hexOf(value);
  if (type === 'bool') return String(isTrue(value));
  return type === 'text' ? (readText(value) ?? hexOf(value)) : hexOf(value);
}

/**
 * Returns a number as the script engine reads it: little-endian, with the sign in the highest bit.
 * Numbers in the state of a contract are padded to a fixed length. Undefined if there are more than
 * 8 bytes.
 */
export function readScriptNumber(bytes: Uint8Array): bigint | undefined {
  if (bytes.length > MAX_NUMBER_BYTES) return undefined;
  const padded = new Uint8Array(MAX_NUMBER_BYTES);
  padded.set(bytes);
  const last = bytes.length - 1;
  const isNegative = ((padded[last] ?? 0) & 0x80) !== 0;
  if (isNegative) padded[last] = (padded[last] ?? 0) & 0x7f;
  const magnitude = new DataView(padded.buffer).getBigUint64(0, true);
  return isNegative ? -magnitude : magnitude;
}

/** The engine takes any bytes for true but zeros, of which the last one may have the sign bit. */
function isTrue(value: Uint8Array): boolean {
  return value.some((byte, index) => byte !== 0 && !(byte === 0x80 && index === value.length - 1));
}

/** Returns printable ASCII, without the zeros that pad it. */
function readText(value: Uint8Array): string | undefined {
  const end = value.findLastIndex((byte) => byte !== 0) + 1;
  const text = new TextDecoder('latin1').decode(value.subarray(0, end));
  return PRINTABLE.test(text) ? text : undefined;
}
