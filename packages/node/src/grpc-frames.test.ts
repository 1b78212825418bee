import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { NodeProtocolError } from './errors.ts';
import { encodeFrame, FrameReader } from './grpc-frames.ts';

it('it reassembles messages from chunks of any size', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }),
      (messages, sizes) => {
        const bytes = Buffer.concat(messages.map(encodeFrame));
        const received: string[] = [];
        const reader = new FrameReader(300, (message) => received.push(Buffer.from(message).toString('hex')));
        for (let at = 0, chunk = 0; at < bytes.length; chunk++) {
          const size = sizes[chunk % sizes.length] as number;
          reader.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(received).toEqual(messages.map((message) => Buffer.from(message).toString('hex')));
      },
    ),
  );
});

it('it accepts messages up to the size limit only', () => {
  const received: number[] = [];
  const reader = new FrameReader(100, ({ length }) => received.push(length));
  reader.push(encodeFrame(Buffer.alloc(100)));
  expect(received).toEqual([100]);
  expect(() => reader.push(encodeFrame(Buffer.alloc(101)))).toThrow(
    new NodeProtocolError('the node sent a message of 101 bytes, and the limit is 100'),
  );
});
