/**
 * Schemas of the values in requests and responses: they validate requests, describe both in
 * openapi.json, and give the TypeScript types. In requests a hash becomes bytes; in responses each
 * value is what the JSON shows.
 */
import { AddressError, decodeAddress, fromHex } from '@kasgres/kaspa';
import { z } from 'zod';
import { list } from './list.ts';

const MAX_UINT64 = 2n ** 64n - 1n;

const hashText = z.string().regex(/^(?:0x)?[0-9a-fA-F]{64}$/, 'must be 64 hex digits, with or without 0x');

const hashMeta = { description: '64 hex digits of either case, with or without `0x`' };

/** A hash or id in a request; becomes 32 bytes. */
export const hashInput = hashText.transform((text) => fromHex(text.slice(-64))).meta(hashMeta);

/** A hash or id in a request that stays text: 64 lower-case hex digits. */
export const hexHashInput = hashText.transform((text) => text.slice(-64).toLowerCase()).meta(hashMeta);

/** A hash in a request where an empty text means none. */
export const hashOrEmptyInput = z
  .string()
  .regex(/^(?:(?:0x)?[0-9a-fA-F]{64})?$/, 'must be 64 hex digits, with or without 0x')
  .transform((text) => (text === '' ? undefined : fromHex(text.slice(-64))));

export const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: 'Hash', description: 'A block hash, transaction id or merkle root: 64 lower-case hex digits' });

export const hexBytes = z
  .string()
  .regex(/^(?:[0-9a-f]{2})*$/)
  .meta({ description: 'Bytes in lower-case hex' });

export const payload = z
  .string()
  .regex(/^(?:0x(?:[0-9a-f]{2})+)?$/)
  .meta({ description: 'Empty, or `0x` and hex' });

export const decimal = z.string().regex(/^\d+$/).meta({ description: 'A whole number in decimal digits' });

export const sompi = z.string().regex(/^\d+$/).meta({ description: 'An amount in sompi (1 KAS = 100,000,000 sompi)' });

export const sompiDelta = z
  .string()
  .regex(/^-?\d+$/)
  .meta({ description: 'An amount in sompi that may be negative' });

export const milliseconds = z.string().regex(/^\d+$/).meta({ description: 'Unix time in milliseconds' });

/** A time outside of /v1/rpc. */
export const timestamp = z.int().nonnegative().meta({ description: 'Unix time in milliseconds' });

export const count = z.int().nonnegative();

export const flag = z.boolean().default(false);

/** Names of one or both of two parts of a response, with a comma between them; becomes a set. */
export const includeInput = <const First extends string, const Second extends string>(first: First, second: Second) =>
  z
    .enum([first, second, `${first},${second}`, `${second},${first}`])
    .transform((names): ReadonlySet<string> => new Set<string>(names.split(',')))
    .optional();

/** An unsigned 64-bit number in a request; becomes a bigint. */
export const uint64Input = z
  .string()
  .regex(/^\d{1,20}$/, 'must be a whole number in decimal digits')
  .transform(BigInt)
  .refine((value) => value <= MAX_UINT64, 'must be below 2^64')
  .meta({ description: 'A whole number in decimal digits, below 2^64' });

/**
 * The longest address has 79 characters: `kaspatest:`, 61 digits of an ECDSA key and 8 of the
 * checksum.
 */
const MAX_ADDRESS_LENGTH = 100;

/** An address of any network: schemas/address.ts checks the network. */
export const addressInput = z
  .string()
  .max(MAX_ADDRESS_LENGTH, { error: 'is longer than any address', abort: true })
  .superRefine((text, context) => {
    try {
      decodeAddress(text);
    } catch (error) {
      if (!(error instanceof AddressError)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
    }
  })
  .meta({ format: 'kaspa-address', description: 'An address with its prefix, such as `kaspa:qr…`' });

export const addressesInput = list(addressInput, 1000);

export const address = z.string().meta({ id: 'Address', description: 'An address with its prefix' });
