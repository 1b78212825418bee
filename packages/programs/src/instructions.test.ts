import { fromHex, toHex } from '@kasgres/kaspa';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changedPushes, disassemble, formatInstruction, instructions, pushesOf, shapeOf } from './instructions.ts';
import { isPush, OPCODE_NAMES } from './opcodes.ts';
import { push, script, scripts } from './testing/arbitraries.ts';
import { COLLECTION, COUNTER, OTHER_COLLECTION } from './testing/chain-programs.ts';

describe('names of opcodes', () => {
  test('every byte has one', () => {
    expect(OPCODE_NAMES).toHaveLength(256);
    expect(new Set(OPCODE_NAMES).size).toBe(256);
  });

  /** kaspa-txscript 2.1.0, src/opcodes/mod.rs. */
  test.each([
    [0x00, 'OpFalse'],
    [0x01, 'OpData1'],
    [0x4b, 'OpData75'],
    [0x4c, 'OpPushData1'],
    [0x4e, 'OpPushData4'],
    [0x4f, 'Op1Negate'],
    [0x50, 'OpReserved'],
    [0x51, 'OpTrue'],
    [0x60, 'Op16'],
    [0x61, 'OpNop'],
    [0x6b, 'OpToAltStack'],
    [0x7f, 'OpSubstr'],
    [0x87, 'OpEqual'],
    [0x8b, 'Op1Add'],
    [0xa6, 'OpZkPrecompile'],
    [0xa9, 'OpCheckMultiSigECDSA'],
    [0xaa, 'OpBlake2b'],
    [0xac, 'OpCheckSig'],
    [0xb2, 'OpTxVersion'],
    [0xbe, 'OpTxInputAmount'],
    [0xc9, 'OpTxInputScriptSigLen'],
    [0xca, 'OpUnknown202'],
    [0xcb, 'OpAuthOutputCount'],
    [0xcd, 'OpNum2Bin'],
    [0xcf, 'OpInputCovenantId'],
    [0xd4, 'OpChainblockSeqCommit'],
    [0xd6, 'OpOutputAuthorizingInput'],
    [0xd8, 'OpCheckSigFromStackECDSA'],
    [0xda, 'OpBlake3WithKey'],
    [0xdb, 'OpUnknown219'],
    [0xf9, 'OpUnknown249'],
    [0xfa, 'OpSmallInteger'],
    [0xfc, 'OpUnknown252'],
    [0xff, 'OpInvalidOpCode'],
  ])('0x%s is %s', (opcode, name) => {
    expect(OPCODE_NAMES[opcode]).toBe(name);
  });

  test('all up to Op16 but OpReserved are pushes', () => {
    expect(OPCODE_NAMES.filter((_, opcode) => isPush(opcode))).toHaveLength(0x60);
    expect([0x00, 0x4f, 0x51, 0x60].map(isPush)).toEqual([true, true, true, true]);
    expect([0x50, 0x61, 0xff].map(isPush)).toEqual([false, false, false]);
  });
});

const PUSH_FORMS = fromHex('0002aabb4c01cc4d0200ddee4e01000000ff4f5160ac');

describe('instructions', () => {
  test('have the data that each form of a push has', () => {
    const found = [...instructions(PUSH_FORMS)];
    expect(found.map(({ offset }) => offset)).toEqual([0, 1, 4, 7, 12, 18, 19, 20, 21]);
    expect(found.map(({ data }) => data && toHex(data))).toEqual([
      '',
      'aabb',
      'cc',
      'ddee',
      'ff',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(found.map(({ push }) => push)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, undefined]);
  });

  test('are printed as the node prints them', () => {
    expect([...instructions(PUSH_FORMS)].map(formatInstruction).join(' ')).toBe(
      'OpFalse OpData2 0xaabb OpPushData1 0xcc OpPushData2 0xddee OpPushData4 0xff Op1Negate OpTrue Op16 OpCheckSig',
    );
    expect(formatInstruction({ name: 'OpPushData1', data: new Uint8Array(0) })).toBe('OpPushData1');
  });

  test('of a program of testnet-10', () => {
    expect([...instructions(COLLECTION.bytes)].slice(0, 9).map(formatInstruction).join(' ')).toBe(
      'OpData1 0x0a OpEqualVerify OpTxInputIndex OpAuthOutputCount OpTrue OpNumEqualVerify OpTxOutputCount Op2 OpNumEqualVerify',
    );
  });

  test('their bytes are the script', () => {
    fc.assert(
      fc.property(scripts, (bytes) => {
        const { malformedAt } = shapeOf(bytes);
        const found = [...instructions(bytes)];
        const ends = [...found.slice(1).map(({ offset }) => offset), malformedAt ?? bytes.length];
        for (const [index, { offset, opcode, data }] of found.entries()) {
          expect(bytes[offset]).toBe(opcode);
          const end = ends[index] ?? 0;
          if (data !== undefined) expect(Buffer.compare(data, bytes.subarray(end - data.length, end))).toBe(0);
        }
      }),
    );
  });
});

describe('where a script does not parse', () => {
  test.each([
    ['OpData of a missing byte', '5102aa', 1],
    ['OpPushData1 without a length', '514c', 1],
    ['OpPushData1 of a missing byte', '4c02aa', 0],
    ['OpPushData2 without half of a length', '51514d01', 2],
    ['OpPushData2 of a missing byte', '4d0200aa', 0],
    ['OpPushData4 without a length', '4e000000', 0],
    ['OpPushData4 of more than 2 GB', `4effffffff${'00'.repeat(20)}`, 0],
  ])('%s', (_, hex, malformedAt) => {
    const bytes = fromHex(hex);
    expect(shapeOf(bytes)).toEqual({
      instructionCount: malformedAt,
      pushCount: malformedAt,
      malformedAt,
      isPushOnly: false,
      lastPush: undefined,
    });
    expect([...instructions(bytes)]).toHaveLength(malformedAt);
  });

  test('a length of nothing parses', () => {
    expect(shapeOf(fromHex('4c004d00004e00000000'))).toMatchObject({ instructionCount: 3, malformedAt: undefined });
  });
});

describe('a signature script', () => {
  test.each([
    ['an empty one', '', true, undefined],
    ['data', '01aa', true, 'aa'],
    ['a number', '0153', true, '53'],
    ['OpFalse, which pushes nothing', '5100', true, ''],
    ['OpTrue', '51', true, '01'],
    ['Op1Negate', '4f', true, '81'],
    ['OpReserved, which the node counts as a push', '5150', true, undefined],
    ['an opcode before a push', '6101aa', false, 'aa'],
    ['an opcode after a push', '01aa61', false, undefined],
  ])('%s', (_, hex, isPushOnly, lastPush) => {
    const shape = shapeOf(fromHex(hex));
    expect(shape.isPushOnly).toBe(isPushOnly);
    expect(shape.lastPush && toHex(shape.lastPush)).toBe(lastPush);
  });
});

describe('a disassembly', () => {
  test('in pages is the whole one', () => {
    const whole = [...instructions(COUNTER.bytes)];
    for (const limit of [1, 7, whole.length, 1_000]) {
      const pages: unknown[] = [];
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const page = disassemble(COUNTER.bytes, { offset, limit });
        expect(page.instructions.length).toBeLessThanOrEqual(limit);
        expect(page.instructionCount).toBe(whole.length);
        pages.push(...page.instructions);
        offset = page.nextOffset;
      }
      expect(pages).toEqual(whole);
    }
  });

  test('past the end is empty', () => {
    expect(disassemble(fromHex('51'), { offset: 1, limit: 5 })).toEqual({
      instructions: [],
      nextOffset: undefined,
      instructionCount: 1,
      malformedAt: undefined,
    });
  });

  test('says where it stops', () => {
    expect(disassemble(fromHex('51614b'), { offset: 0, limit: 1 })).toMatchObject({
      nextOffset: 1,
      instructionCount: 2,
      malformedAt: 2,
    });
  });
});

describe('pushes', () => {
  test('have numbers, ranges and values', () => {
    const found = [...pushesOf(script(0x61, push('ab'), 0x51, 0x50, 0x00, 0x4f))];
    expect(found.map(({ index, start, end, value }) => [index, start, end, toHex(value)])).toEqual([
      [0, 1, 4, '6162'],
      [1, 4, 5, '01'],
      [2, 6, 7, ''],
      [3, 7, 8, '81'],
    ]);
  });

  test('that differ between two states are found by number', () => {
    expect(changedPushes(COLLECTION.bytes, OTHER_COLLECTION.bytes)).toEqual([4]);
    expect(changedPushes(COLLECTION.bytes, COLLECTION.bytes)).toEqual([]);
  });

  test('compare by value, not by the opcode that pushes it', () => {
    expect(changedPushes(fromHex('0101ac'), fromHex('51ac'))).toEqual([]);
    expect(changedPushes(fromHex('4c0105ac'), fromHex('56ac'))).toEqual([0]);
  });

  test.each([
    ['other opcodes', '51ac', '51ab'],
    ['an opcode in place of a push', '51ac', '61ac'],
    ['more instructions', '51', '5151'],
    ['a malformed script', '5102', '5151'],
    ['two malformed scripts', '5102', '5103'],
  ])('programs with %s cannot be compared', (_, before, after) => {
    expect(changedPushes(fromHex(before), fromHex(after))).toBeUndefined();
  });
});
