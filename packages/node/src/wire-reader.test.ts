import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NodeProtocolError } from './errors.ts';
import { bytesTag, fixed64Tag, varintTag, WireReader } from './wire-reader.ts';

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('it reads what protobuf-es writes', () => {
  it('numbers', () => {
    fc.assert(
      fc.property(uint64, int64, uint32, fc.double(), fc.boolean(), (u64, i64, u32, double, bool) => {
        const bytes = new BinaryWriter().uint64(u64).int64(i64).uint32(u32).double(double).bool(bool).finish();
        const reader = new WireReader(bytes);
        expect(reader.uint64()).toBe(u64);
        expect(reader.int64()).toBe(i64);
        expect(reader.uint32()).toBe(u32);
        expect(reader.double()).toBe(double);
        expect(reader.bool()).toBe(bool);
        expect(reader.more).toBe(false);
      }),
    );
  });

  it('tags and text, also from the middle of a buffer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 29 - 1 }), fc.string({ unit: 'binary' }), (field, text) => {
        const message = new BinaryWriter().tag(field, WireType.LengthDelimited).string(text).finish();
        const reader = new WireReader(Buffer.concat([Buffer.alloc(7), message]).subarray(7));
        expect(reader.tag()).toBe(bytesTag(field));
        expect(reader.text()).toBe(text);
        expect(reader.more).toBe(false);
      }),
    );
  });

  it('and skips unknown fields of any type', () => {
    const bytes = new BinaryWriter()
      .tag(1, WireType.Varint)
      .uint64(2n ** 64n - 1n)
      .tag(2, WireType.Bit64)
      .fixed64(5n)
      .tag(3, WireType.LengthDelimited)
      .string('unknown')
      .tag(4, WireType.Bit32)
      .fixed32(7)
      .tag(5, WireType.Varint)
      .uint32(42)
      .finish();
    const reader = new WireReader(bytes);
    for (const tag of [varintTag(1), fixed64Tag(2), bytesTag(3), 4 * 8 + 5]) {
      expect(reader.tag()).toBe(tag);
      reader.skip(tag);
    }
    expect(reader.tag()).toBe(varintTag(5));
    expect(reader.uint32()).toBe(42);
  });
});

it('it keeps the low bits of an overlong 32-bit field, as protobuf-es does', () => {
  fc.assert(
    fc.property(uint64, (value) => {
      const bytes = new BinaryWriter().uint64(value).finish();
      expect(new WireReader(bytes).uint32()).toBe(new BinaryReader(bytes).uint32());
    }),
  );
});

describe('it rejects', () => {
  const malformed: [string, number[], (reader: WireReader) => unknown][] = [
    ['a number of eleven bytes', Array<number>(11).fill(0x80), (reader) => reader.uint64()],
    ['a number of eleven bytes where 32 bits are wanted', Array<number>(11).fill(0x80), (reader) => reader.uint32()],
    ['a number of 17 bits where 16 are wanted', [0x80, 0x80, 4], (reader) => reader.uint16()],
    ['a number of 9 bits where 8 are wanted', [0x80, 2], (reader) => reader.uint8()],
    ['a number of 33 bits where 16 are wanted', [0x80, 0x80, 0x80, 0x80, 0x10], (reader) => reader.uint16()],
    ['a text longer than its message', [5, 65, 66], (reader) => reader.text()],
    ['a message longer than the one around it', [5, 8, 1], (reader) => reader.enter()],
    ['a double that is cut off', [0, 0, 0], (reader) => reader.double()],
    ['field number 0', [2, 1, 65], (reader) => reader.tag()],
    ['a group', [11, 12], (reader) => reader.skip(reader.tag())],
    [
      'a number that runs out of its message',
      [1, 0x80, 1],
      (reader) => {
        const outerEnd = reader.enter();
        reader.uint32();
        reader.leave(outerEnd);
      },
    ],
  ];
  it.each(malformed)('%s', (_, bytes, read) => {
    expect(() => read(new WireReader(Uint8Array.from(bytes)))).toThrow(NodeProtocolError);
  });
});

it('reads the greatest numbers of 16 and 8 bits', () => {
  expect(new WireReader(Uint8Array.from([0xff, 0xff, 3])).uint16()).toBe(2 ** 16 - 1);
  expect(new WireReader(Uint8Array.from([0xff, 1])).uint8()).toBe(2 ** 8 - 1);
});
