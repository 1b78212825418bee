/** Bytes for property tests and attacks: any, and such that decoders look into them. */
import * as fc from 'fast-check';

/** Encodes a push as wallets do, with the shortest length. */
export function push(data: Uint8Array | string): Uint8Array {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  const { length } = bytes;
  if (length <= 0x4b) return Uint8Array.of(length, ...bytes);
  if (length <= 0xff) return Buffer.concat([Uint8Array.of(0x4c, length), bytes]);
  if (length <= 0xffff) return Buffer.concat([Uint8Array.of(0x4d, length & 0xff, length >> 8), bytes]);
  const header = Buffer.from([0x4e, 0, 0, 0, 0]);
  header.writeUInt32LE(length, 1);
  return Buffer.concat([header, bytes]);
}

export const script = (...parts: (Uint8Array | number)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Uint8Array.of(part) : part)));

/** Opcodes, pushes of all forms, and truncated ones. */
export const scripts = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 255 }).map((opcode) => Uint8Array.of(opcode)),
      fc.uint8Array({ maxLength: 80 }).map(push),
      fc.uint8Array({ minLength: 5, maxLength: 5 }).map((bytes) => Uint8Array.of(0x4e, ...bytes)),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.concat(parts) as Uint8Array);

export const anyBytes = fc.oneof(fc.uint8Array({ maxLength: 400 }), scripts);

/** The largest program that a transaction can reveal is a little shorter than this. */
export const HUGE = 250_000;

/** Programs and payloads that cost the most, by name. */
export const ATTACKS: Readonly<Record<string, Uint8Array>> = {
  nothing: new Uint8Array(0),
  'only OpFalse': new Uint8Array(HUGE),
  'only OpTrue': new Uint8Array(HUGE).fill(0x51),
  'only OpNop': new Uint8Array(HUGE).fill(0x61),
  'only OpReserved': new Uint8Array(HUGE).fill(0x50),
  'only OpZkPrecompile': new Uint8Array(HUGE).fill(0xa6),
  'only OpInvalidOpCode': new Uint8Array(HUGE).fill(0xff),
  'pushes of one byte': new Uint8Array(HUGE).fill(0x01),
  'one push': push(new Uint8Array(HUGE)),
  'nested pushes': new Uint8Array(HUGE).fill(0x4d),
  'a truncated OpData': Uint8Array.of(0x51, 0x4b),
  'a truncated OpPushData1': Uint8Array.of(0x4c),
  'a truncated OpPushData2': Uint8Array.of(0x4d, 1),
  'a truncated OpPushData4': Uint8Array.of(0x4e, 0xff, 0xff, 0xff),
  'an OpPushData4 of 4 GB': Uint8Array.of(0x4e, 0xff, 0xff, 0xff, 0xff, 0),
  'every opcode': Uint8Array.from({ length: 256 }, (_, opcode) => opcode),
  'JSON of depth 10,000': Buffer.from(`${'['.repeat(10_000)}${']'.repeat(10_000)}`),
  'an object of depth 10,000': Buffer.from(`${'{"p":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
  'brackets that are never closed': Buffer.from(`{"p":"krc-20",${'['.repeat(HUGE)}`),
  'white space': Buffer.from(`{"p"${' '.repeat(HUGE)}`),
  'many claims': Buffer.from(`{${'"p":"krc-20",'.repeat(20_000)}`),
  'a NUL': Buffer.from('{"p":"krc-20\0","op":"mint"}'),
  'lone surrogates': Buffer.from(String.raw`{"p":"krc-20","op":"mint","tick":"\ud800\udfff\ud800"}`),
  'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
  slashes: Buffer.alloc(HUGE, '/'),
  'domains without an end': Buffer.alloc(HUGE, '/a.'),
  'a message without a type': Buffer.from(`kchat:1:${'a'.repeat(HUGE)}`),
  'colons only': Buffer.from(`ciph_msg:1:bcast${':'.repeat(HUGE)}`),
};
