/** Parts of scripts: pushes, P2SH, and what a signature script reveals. */
import { blake2b256, type ScriptPublicKey } from '@kasgres/kaspa';

const OP_DATA_75 = 0x4b;
const OP_PUSH_DATA_1 = 0x4c;
const OP_PUSH_DATA_2 = 0x4d;
const OP_PUSH_DATA_4 = 0x4e;
const OP_EQUAL = 0x87;
const OP_BLAKE2B = 0xaa;
const OP_CHECK_SIG = 0xac;
const MAX_UINT8 = 0xff;
const MAX_UINT16 = 0xffff;

/** Returns the instruction that pushes these bytes. */
export function push(data: Uint8Array): Uint8Array {
  const { length } = data;
  if (length <= OP_DATA_75) return Buffer.concat([Uint8Array.of(length), data]);
  if (length <= MAX_UINT8) return Buffer.concat([Uint8Array.of(OP_PUSH_DATA_1, length), data]);
  const size = Buffer.alloc(length <= MAX_UINT16 ? 2 : 4);
  size.writeUIntLE(length, 0, size.length);
  return Buffer.concat([Uint8Array.of(length <= MAX_UINT16 ? OP_PUSH_DATA_2 : OP_PUSH_DATA_4), size, data]);
}

/** Returns the script that pays a Schnorr key. */
export function payToKey(publicKey: Uint8Array): ScriptPublicKey {
  return { version: 0, script: Buffer.concat([push(publicKey), Uint8Array.of(OP_CHECK_SIG)]) };
}

/** Returns the script that commits to a program. */
export function p2shOf(program: Uint8Array): ScriptPublicKey {
  const hash = blake2b256(program);
  return { version: 0, script: Uint8Array.of(OP_BLAKE2B, hash.length, ...hash, OP_EQUAL) };
}

/**
 * Returns what the last instruction of a script pushes; undefined if the script consists of other
 * instructions than data pushes.
 */
export function lastPush(script: Uint8Array): Uint8Array | undefined {
  let last: Uint8Array | undefined;
  for (let at = 0; at < script.length; ) {
    const opcode = script[at] ?? 0;
    if (opcode > OP_PUSH_DATA_4) return undefined;
    const sizeBytes = opcode <= OP_DATA_75 ? 0 : opcode === OP_PUSH_DATA_1 ? 1 : opcode === OP_PUSH_DATA_2 ? 2 : 4;
    const start = at + 1 + sizeBytes;
    if (start > script.length) return undefined;
    const length = sizeBytes === 0 ? opcode : Buffer.from(script).readUIntLE(at + 1, sizeBytes);
    if (start + length > script.length) return undefined;
    last = script.subarray(start, start + length);
    at = start + length;
  }
  return last;
}
