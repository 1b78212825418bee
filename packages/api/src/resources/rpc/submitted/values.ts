/**
 * The values that submitted blocks and transactions are made of, in every form that the API itself emits: 64-bit numbers as decimal
 * digits or as numbers (in block templates), bytes with or without `0x`. The ranges are those of the node's own types, so that nothing
 * reaches it that it cannot read.
 */
import { fromHex, SUBNETWORK_ID_BYTES } from '@kasgres/kaspa';
import { z } from 'zod';
import { withoutMark } from '../../../http/exact-integers.ts';
import { MAX_FIELD_BYTES, MAX_IGNORED_FIELDS } from './limits.ts';

const whole = (bits: number) =>
  z
    .int()
    .min(0)
    .max(2 ** bits - 1);

export const uint8Input = whole(8);
export const uint16Input = whole(16);
export const uint32Input = whole(32);

/** A whole number in any form, of at most so many bits; becomes a bigint. */
function wholeOf(bits: bigint) {
  const limit = 2n ** bits;
  const pattern = `^\\d{1,${String(limit).length}}$`;
  const words = `must be a whole number below 2^${bits}, in decimal digits`;
  return z
    .union(
      [
        z
          .string()
          .transform(withoutMark)
          .pipe(z.string().regex(new RegExp(pattern), words)),
        z.int(words).min(0, words),
      ],
      {
        error: ({ input }) => (input === undefined ? 'is required' : words),
      },
    )
    .meta({
      anyOf: [
        { type: 'string', pattern },
        { type: 'integer', minimum: 0 },
      ],
    })
    .transform(BigInt)
    .refine((value) => value >= 0n && value < limit, words)
    .meta({
      description: `A whole number below 2^${bits}: decimal digits in a string, or a number with all its digits`,
    });
}

export const uint64InAnyForm = wholeOf(64n);
/** Times are signed in the node's protocol. */
export const timeInput = wholeOf(63n);
export const blueWorkInput = wholeOf(192n);

/** With `0x` and the version of a script. */
const MAX_HEX_DIGITS = 2 * MAX_FIELD_BYTES + 6;

/** Becomes bytes. */
export const hexInput = z
  .string()
  .max(MAX_HEX_DIGITS)
  .regex(/^(?:0x)?(?:[0-9a-fA-F]{2})*$/, 'must be hex, with or without 0x')
  .transform((text) => fromHex(withoutPrefix(text)))
  .meta({ description: 'Bytes in hex of either case, with or without `0x`' });

/** Version and script in one text; becomes both. */
export const prefixedScriptInput = z
  .string()
  .max(MAX_HEX_DIGITS)
  .regex(/^(?:0x)?[0-9a-fA-F]{4}(?:[0-9a-fA-F]{2})*$/, 'must be 4 hex digits of the version, then the script in hex')
  .transform((text) => {
    const hex = withoutPrefix(text);
    return { version: Number.parseInt(hex.slice(0, 4), 16), script: fromHex(hex.slice(4)) };
  });

const SUBNETWORK_ID = new RegExp(`^(?:0x)?[0-9a-fA-F]{${2 * SUBNETWORK_ID_BYTES}}$`);

export const subnetworkIdInput = z
  .string()
  .regex(SUBNETWORK_ID, `must be ${2 * SUBNETWORK_ID_BYTES} hex digits, with or without 0x`)
  .transform((text) => fromHex(withoutPrefix(text)))
  .meta({ description: `${2 * SUBNETWORK_ID_BYTES} hex digits of either case, with or without \`0x\`` });

/** What an answer of ours has beside the thing itself. */
export const ignored = z
  .custom<object>((value) => isObject(value) && Object.keys(value).length <= MAX_IGNORED_FIELDS, {
    error: ({ input }) => (isObject(input) ? `has more than ${MAX_IGNORED_FIELDS} fields` : 'must be an object'),
  })
  .optional()
  .meta({ type: 'object', maxProperties: MAX_IGNORED_FIELDS, description: 'Ignored' });

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withoutPrefix = (hex: string): string => (hex.startsWith('0x') ? hex.slice(2) : hex);
