import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { possibleProgram } from './possible-program.ts';
import { usesOf } from './uses.ts';

const push = (data: Uint8Array): Buffer => Buffer.concat([Buffer.of(data.length), data]);

test('it finds the last push of a signature script', () => {
  const program = Buffer.from('b951', 'hex');
  expect(possibleProgram(push(program))).toEqual(program);
  expect(possibleProgram(Buffer.concat([push(Buffer.alloc(65, 1)), push(program)]))).toEqual(program);
});

test('it leaves out what no P2SH spend can be', () => {
  expect(possibleProgram(Buffer.alloc(0))).toBeUndefined();
  // An opcode that is no push.
  expect(possibleProgram(Buffer.from('0101b9', 'hex'))).toBeUndefined();
  // The data is missing.
  expect(possibleProgram(Buffer.from('0501', 'hex'))).toBeUndefined();
});

test('it tells a program of 65 bytes from a signature', () => {
  // <32 bytes> Drop <27 bytes> Drop True True: its last byte is no type of hash.
  const plain = Buffer.concat([
    push(Buffer.alloc(32)),
    Buffer.of(0x75),
    push(Buffer.alloc(27)),
    Buffer.of(0x75, 0x51, 0x51),
  ]);
  expect(plain).toHaveLength(65);
  expect(possibleProgram(push(plain))).toEqual(plain);
  // OpTxInputIndex Drop, and a push of 62 bytes whose last one is that of SIGHASH_ALL.
  const endsAsSignature = Buffer.concat([Buffer.of(0xb9, 0x75), push(Buffer.alloc(62, 1))]);
  expect(endsAsSignature).toHaveLength(65);
  expect(possibleProgram(push(endsAsSignature))).toEqual(endsAsSignature);
  expect(usesOf(endsAsSignature)).not.toBe(0);
});

test('hardly any signature is taken for a program', () => {
  const signatures = 20_000;
  let found = 0;
  for (let each = 0; each < signatures; each += 1) {
    const program = possibleProgram(Buffer.concat([Buffer.of(0x41), randomBytes(64), Buffer.of(1)]));
    if (program !== undefined && usesOf(program) !== 0) found += 1;
  }
  expect(found / signatures).toBeLessThan(0.01);
});
