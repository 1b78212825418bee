import { createCipheriv } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillWithKeyStream } from './chacha20.ts';

test('equals the key stream of OpenSSL', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(key, fc.integer({ min: 1, max: 8 }), (key, blocks) => {
      const stream = Buffer.alloc(blocks * 64);
      const expected = createCipheriv('chacha20', key, Buffer.alloc(16)).update(stream);
      fillWithKeyStream(new DataView(stream.buffer, stream.byteOffset, stream.length), key);
      expect(stream).toEqual(expected);
    }),
  );
});
