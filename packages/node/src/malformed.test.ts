import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeBlockResponse,
  decodeBlocks,
  decodeBlocksResponse,
  decodeVirtualChainResponse,
} from './decode-responses.ts';
import { decodeResponse, readEnvelope } from './envelope.ts';
import { NodeProtocolError, NodeRpcError } from './errors.ts';
import { recordedResponses } from './testing/recorded-calls.ts';

const decoders = {
  getBlocks: (body: Uint8Array) => [decodeBlocksResponse(body), ...decodeBlocks(body)],
  getBlock: decodeBlockResponse,
  getVirtualChainFromBlock: decodeVirtualChainResponse,
  getVirtualChainFromBlockV2: (body: Uint8Array) => decodeResponse('getVirtualChainFromBlockV2', body),
} as const;

/**
 * An edit of bytes: at a point between 0 (start) and 1 (end), this many bytes give way to these.
 */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.nat({ max: 40 }),
  insert: fc.uint8Array({ maxLength: 12 }),
});

function apply(bytes: Uint8Array, edits: readonly { at: number; remove: number; insert: Uint8Array }[]): Uint8Array {
  return edits.reduce<Uint8Array>((edited, { at, remove, insert }) => {
    const start = Math.floor(at * edited.length);
    return Buffer.concat([edited.subarray(0, start), insert, edited.subarray(start + remove)]);
  }, bytes);
}

describe.each(Object.entries(decoders))('%s', (op, decode) => {
  const bodies = recordedResponses(op)
    .map(({ body }) => body)
    .filter(({ length }) => length > 500 && length < 50_000);

  it('decodes damaged bytes or throws a NodeProtocolError', () => {
    expect(bodies.length).toBeGreaterThan(0);
    let refused = 0;
    fc.assert(
      fc.property(fc.constantFrom(...bodies), fc.array(edit, { minLength: 1, maxLength: 3 }), (body, edits) => {
        try {
          decode(apply(body, edits));
        } catch (error) {
          refused++;
          if (!(error instanceof NodeProtocolError) && !(error instanceof NodeRpcError)) throw error;
        }
      }),
      { numRuns: 1_000 },
    );
    expect(refused).toBeGreaterThan(500);
  });

  it('decodes truncated bytes or throws a NodeProtocolError', () => {
    const body = bodies.toSorted((a, b) => a.length - b.length)[0] as Uint8Array;
    for (let length = 0; length < body.length; length++) {
      try {
        decode(body.subarray(0, length));
      } catch (error) {
        if (!(error instanceof NodeProtocolError)) throw error;
      }
    }
  });
});

it('it reads an envelope of random bytes or throws a NodeProtocolError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        readEnvelope(bytes);
      } catch (error) {
        if (!(error instanceof NodeProtocolError)) throw error;
      }
    }),
  );
});

describe('the error names a malformed block', () => {
  const { body } = recordedResponses('getBlock').find(({ body }) => body.length > 2_000) as { body: Uint8Array };
  const { hash, transactions, header } = decodeBlockResponse(body);
  const name = Buffer.from(hash).toString('hex');

  /**
   * The body with the first place where this hex stands replaced by another text of the same
   * length.
   */
  function replaceHex(bytes: Uint8Array, text: string): Uint8Array {
    const damaged = Buffer.from(body);
    const at = damaged.indexOf(Buffer.from(bytes).toString('hex'));
    expect(at).toBeGreaterThan(0);
    damaged.write(text, at, 'latin1');
    return damaged;
  }

  it('if a transaction id contains an invalid digit', () => {
    const damaged = replaceHex((transactions[0] as { transactionId: Uint8Array }).transactionId, 'g');
    expect(() => decodeBlockResponse(damaged)).toThrow(
      new NodeProtocolError(`block ${name}: hex text contains a character that is not a hex digit`),
    );
  });

  it('if its header is malformed', () => {
    const damaged = replaceHex(header.hashMerkleRoot, '\u00e9');
    expect(() => decodeBlockResponse(damaged)).toThrow(new RegExp(`^block ${name}: `));
  });

  it('if its header and its verbose data contain different hashes', () => {
    const damaged = Buffer.from(replaceHex(hash, '00000000'));
    expect(() => decodeBlockResponse(damaged)).toThrow(/name different hashes$/);
  });
});
