import { blake2b256, fromHex, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import { blake2b } from '@noble/hashes/blake2.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bareProgram, claimedProgram, isP2sh, revealedProgram } from './reveal.ts';
import { describeProgram, kccTemplateHash, rangeOfPushes, templateOf } from './template.ts';
import { push, script, scripts } from './testing/arbitraries.ts';
import { CHAIN_PROGRAMS, COLLECTION, OTHER_COLLECTION } from './testing/chain-programs.ts';
import { namesOfUses, USES, usesOf } from './uses.ts';

const hex = (bytes: Uint8Array | undefined) => bytes && toHex(bytes);

describe('programs of testnet-10', () => {
  test.each(CHAIN_PROGRAMS)('$hash has its hashes', ({ bytes, hash, template }) => {
    const description = describeProgram(bytes);
    expect(hex(description.hash)).toBe(hash);
    expect(hex(description.template)).toBe(template);
    expect(namesOfUses(description.uses)).toEqual(['introspection', 'covenants']);
    expect(description.length).toBe(bytes.length);
  });

  test('of one contract have one template and two hashes', () => {
    expect(templateOf(COLLECTION.bytes)).toEqual(templateOf(OTHER_COLLECTION.bytes));
    expect(COLLECTION.hash).not.toBe(OTHER_COLLECTION.hash);
  });
});

describe('a template', () => {
  test.each([
    ['no program', '', ''],
    ['pushes of every form', '0001aa4c01aa4d0100aa4e01000000aa4f5160', '00'.repeat(8)],
    ['OpReserved, which pushes nothing', '5050', '5050'],
    ['opcodes that look like data', '04aabbccddac', '00ac'],
  ])('of %s is the hash of its skeleton', (_, program, skeleton) => {
    expect(templateOf(fromHex(program))).toEqual(blake2b(fromHex(skeleton), { dkLen: 32 }));
  });

  test('does not exist for a program that does not parse', () => {
    expect(templateOf(fromHex('ac02aa'))).toBeUndefined();
    expect(describeProgram(fromHex('b202aa'))).toMatchObject({
      template: undefined,
      uses: USES.introspection,
      pushCount: 0,
    });
  });

  test('is the same after any value is pushed in place of another', () => {
    const number = fc.constantFrom(0x00, 0x4f, 0x51, 0x60).map((opcode) => Uint8Array.of(opcode));
    const value = fc.oneof(fc.uint8Array({ maxLength: 300 }).map(push), number);
    fc.assert(
      fc.property(value, value, scripts, (a, b, rest) => {
        expect(templateOf(script(0xb9, a, rest))).toEqual(templateOf(script(0xb9, b, rest)));
      }),
    );
  });
});

describe('uses', () => {
  test.each([
    ['a payment', `20${'00'.repeat(32)}ac`, []],
    ['the first opcode of introspection', 'b2', ['introspection']],
    ['the last one', 'c9', ['introspection']],
    ['what is next to introspection', 'b1ca', []],
    ['conversions of numbers', 'cdce', []],
    ['opcodes of covenants', 'cb', ['covenants']],
    ['more of them', 'd5', ['covenants']],
    ['the sequencing commitment', 'd4', ['sequencing']],
    ['signatures of messages and BLAKE3', 'd7d8d9da', []],
    ['Groth16', '0120a6', ['groth16']],
    ['RISC Zero', '4c0121a6', ['risc0']],
    ['an unknown tag', '0122a6', ['unknownZk']],
    ['a tag of two bytes', '022000a6', ['unknownZk']],
    ['a tag from the spender', 'a6', ['unknownZk']],
    ['a tag before another opcode', '012061a6', ['unknownZk']],
    ['two systems', '0120a6750121a6', ['groth16', 'risc0']],
    ['opcodes within pushed data', '03b2cba6', []],
    ['opcodes behind what does not parse', 'b202cb', ['introspection']],
  ])('%s', (_, program, uses) => {
    expect(namesOfUses(usesOf(fromHex(program)))).toEqual(uses);
  });

  test('each opcode of covenants is one', () => {
    const covenants = Array.from({ length: 256 }, (_, opcode) => opcode).filter(
      (opcode) => usesOf(script(push('x'), opcode)) === USES.covenants,
    );
    expect(covenants).toEqual([0xcb, 0xcc, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3, 0xd5, 0xd6]);
  });
});

/** The rows of section 11.4 of KCC-0001 (kaspanet/kccs at ea5176aa). */
describe("KCC-1's template hash", () => {
  test.each([
    ['', '', 'e572dff82304700b856a555ac3a4558d0df3646a3727816500270a93c66aac1e'],
    ['61', '6263', '405e183e2494cdbe2df89349cc0ffa5b77fb885ad97a1d5660ecd0692ef8142a'],
    ['6162', '63', 'a0968c014f3fc7bd1a7d9a8d1ad1177eb379bd2f05e56309eb4e20347c5e7eba'],
    ['00ff', '100080', '6616a66757315de0221cb2acba729113cebde31f8d3ca7fa93878a0584b96905'],
  ])('of %s and %s', (prefix, suffix, expected) => {
    for (const state of ['', 'aabbcc']) {
      const range = { start: prefix.length / 2, end: (prefix.length + state.length) / 2 };
      expect(hex(kccTemplateHash(fromHex(prefix + state + suffix), range))).toBe(expected);
    }
  });

  test.each([
    [-1, 0],
    [2, 1],
    [0, 4],
    [Number.NaN, 2],
  ])('does not exist for a state from %s to %s of three bytes', (start, end) => {
    expect(kccTemplateHash(fromHex('515253'), { start, end })).toBeUndefined();
  });

  test('needs the range of the pushes of a state', () => {
    const program = script(0x6b, push('owner'), push('1'), 0x6c, push('code'));
    expect(rangeOfPushes(program, 0, 1)).toEqual({ start: 1, end: 9 });
    expect(rangeOfPushes(program, 2, 2)).toEqual({ start: 10, end: 15 });
    expect(rangeOfPushes(program, 0, 3)).toBeUndefined();
    expect(rangeOfPushes(program, 2, 1)).toBeUndefined();
  });
});

const p2sh = (program: Uint8Array, version = 0): ScriptPublicKey => ({
  version,
  script: script(0xaa, push(blake2b256(program)), 0x87),
});

describe('a reveal', () => {
  test.each(CHAIN_PROGRAMS)('$hash is revealed', ({ bytes, hash }) => {
    const spent = { version: 0, script: fromHex(`aa20${hash}87`) };
    expect(isP2sh(spent)).toBe(true);
    expect(revealedProgram(spent, script(push('signature'), 0x51, push(bytes)))).toEqual(bytes);
  });

  test('may be empty or a number, as the stack of the engine has it', () => {
    expect(revealedProgram(p2sh(new Uint8Array(0)), fromHex('5100'))).toEqual(new Uint8Array(0));
    expect(revealedProgram(p2sh(Uint8Array.of(7)), fromHex('57'))).toEqual(Uint8Array.of(7));
  });

  const program = fromHex('b9cf7551');
  test.each([
    ['another program', p2sh(program), push('other')],
    ['a program before the last push', p2sh(program), script(push(program), push('x'))],
    ['a script of another version', p2sh(program, 1), push(program)],
    ['a script that is no P2SH', { version: 0, script: script(push(blake2b256(program)), 0x87) }, push(program)],
    ['a signature script that does not parse', p2sh(program), script(push(program), 0x4c)],
    ['a signature script with other opcodes', p2sh(program), script(0x61, push(program))],
    ['no push', p2sh(program), new Uint8Array(0)],
  ])('does not exist with %s', (_, spent, signatureScript) => {
    expect(revealedProgram(spent, signatureScript)).toBeUndefined();
  });

  test('without the hash is what a node has checked', () => {
    expect(claimedProgram(p2sh(program), push('other'))).toEqual(Uint8Array.from(Buffer.from('other')));
    expect(claimedProgram({ version: 0, script: program }, push(program))).toBeUndefined();
  });
});

test('a bare script is a program if it uses such an opcode and nodes run it', () => {
  const bare = fromHex('08aabbccddeeff001175b97551');
  expect(bareProgram({ version: 0, script: bare })).toBe(bare);
  expect(bareProgram({ version: 1, script: bare })).toBeUndefined();
  expect(bareProgram({ version: 0, script: fromHex('7551') })).toBeUndefined();
});
