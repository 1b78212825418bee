import { expect, test } from 'vitest';
import { isNotable } from './notable.ts';

const push = (data: Uint8Array): Buffer => Buffer.concat([Buffer.of(data.length), data]);

test('programs with opcodes of a family and envelopes are notable', () => {
  expect(isNotable(Buffer.from('b9', 'hex'))).toBe(true);
  expect(isNotable(Buffer.from('51', 'hex'))).toBe(false);
  // <key> OpCheckSig OpFalse OpIf "kasplex" OpFalse "{}" OpEndIf
  const envelope = Buffer.concat([
    push(Buffer.alloc(32, 2)),
    Buffer.of(0xac, 0x00, 0x63),
    push(Buffer.from('kasplex')),
    Buffer.of(0x00),
    push(Buffer.from('{}')),
    Buffer.of(0x68),
  ]);
  expect(isNotable(envelope)).toBe(true);
});
