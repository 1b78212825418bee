/**
 * Limits and values of submitted blocks and transactions, in every form that the API itself emits.
 * The ranges are those of the node's types.
 */
import { fromHex, SUBNETWORK_ID_BYTES } from '@kasgres/kaspa';
import { z } from 'zod';
import { withoutMark } from '../../../http/exact-integers.ts';

/**
 * Consensus limits the transactions of a block to 1,000,000 of transient mass, 4 for each byte of
 * their plain serialization (packages/kaspa/src/mass.ts). The figures are those of kaspad 2.1.0
 * (consensus/core/src/config/params.rs), the same on all networks.
 */
const MAX_BYTES = 1_000_000 / 4;

/**
 * Version 2, counts of inputs and outputs 8 + 8, lock time 8, subnetwork 20, gas 8, payload hash 32
 * and length 8.
 */
const MIN_TRANSACTION_BYTES = 94;
/** Outpoint 36, length of the signature script 8, sequence 8. Only a coinbase has no input. */
const MIN_INPUT_BYTES = 52;

/** The coinbase, which has no mass, and 1,712 transactions with one input and no output. */
export const MAX_BLOCK_TRANSACTIONS = 1 + Math.floor(MAX_BYTES / (MIN_TRANSACTION_BYTES + MIN_INPUT_BYTES));

/** Mass alone would allow 4,805 inputs, but consensus sets a lower limit (`max_tx_inputs`). */
export const MAX_TRANSACTION_INPUTS = 1000;
/**
 * Mass alone would allow 13,883 outputs of 18 bytes, but consensus sets a lower limit
 * (`max_tx_outputs`).
 */
export const MAX_TRANSACTION_OUTPUTS = 1000;

/** The number of a level is one byte. */
export const MAX_PARENT_LEVELS = 256;
/**
 * At most 16 direct parents, 64 on simnet. Parents at higher levels are in a common mergeset, too,
 * which has at most 248 blocks.
 */
export const MAX_PARENTS_PER_LEVEL = 256;

/** Fields of `verboseData`, which is ignored: responses of the API have up to 10. */
const MAX_IGNORED_FIELDS = 32;

const whole = (bits: number) =>
  z
    .int()
    .min(0)
    .max(2 ** bits - 1);

export const uint8Input = whole(8);
export const uint16Input = whole(16);
export const uint32Input = whole(32);

/** Accepts a whole number of at most `bits` bits in any form; becomes a bigint. */
function wholeOf(bits: bigint) {
  const limit = 2n ** bits;
  const pattern = `^\\d{1,${String(limit).length}}$`;
  const message = `must be a whole number below 2^${bits}, in decimal digits`;
  return z
    .union(
      [
        z
          .string()
          .transform(withoutMark)
          .pipe(z.string().regex(new RegExp(pattern), message)),
        z.int(message).min(0, message),
      ],
      {
        error: ({ input }) => (input === undefined ? 'is required' : message),
      },
    )
    .meta({
      anyOf: [
        { type: 'string', pattern },
        { type: 'integer', minimum: 0 },
      ],
    })
    .transform(BigInt)
    .refine((value) => value >= 0n && value < limit, message)
    .meta({
      description: `A whole number below 2^${bits}: decimal digits in a string, or a number with all its digits`,
    });
}

export const uint64InAnyForm = wholeOf(64n);
/** Times are signed in the protocol of the node. */
export const timeInput = wholeOf(63n);
export const blueWorkInput = wholeOf(192n);

/**
 * No script or payload is larger than the transactions of a block together. Includes `0x` and the
 * version of a script.
 */
const MAX_HEX_DIGITS = 2 * MAX_BYTES + 6;

export const hexInput = z
  .string()
  .max(MAX_HEX_DIGITS)
  .regex(/^(?:0x)?(?:[0-9a-fA-F]{2})*$/, 'must be hex, with or without 0x')
  .transform((text) => fromHex(withoutPrefix(text)))
  .meta({ description: 'Bytes in hex of either case, with or without `0x`' });

/** Version and script in one text; becomes an object of both. */
export const prefixedScriptInput = z
  .string()
  .max(MAX_HEX_DIGITS)
  .regex(/^(?:0x)?[0-9a-fA-F]{4}(?:[0-9a-fA-F]{2})*$/, 'must be the version as 4 hex digits, then the script in hex')
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

/** `verboseData` of a response of the API, which may be part of a request. */
export const ignored = z
  .custom<object>((value) => isObject(value) && Object.keys(value).length <= MAX_IGNORED_FIELDS, {
    error: ({ input }) => (isObject(input) ? `has more than ${MAX_IGNORED_FIELDS} fields` : 'must be an object'),
  })
  .optional()
  .meta({ type: 'object', maxProperties: MAX_IGNORED_FIELDS, description: 'Ignored' });

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withoutPrefix = (hex: string): string => (hex.startsWith('0x') ? hex.slice(2) : hex);
