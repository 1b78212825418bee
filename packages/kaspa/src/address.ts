/**
 * Addresses: a prefix that names the network, a colon, and in base-32 digits a version byte, a
 * payload and a checksum (rusty-kaspa, crypto/addresses). The only valid text of an address is
 * lower case and has its prefix.
 */
import { CHECKSUM_DIGITS, writeChecksum } from './address-checksum.ts';

export const ADDRESS_PREFIXES = ['kaspa', 'kaspatest', 'kaspasim', 'kaspadev'] as const;
export type AddressPrefix = (typeof ADDRESS_PREFIXES)[number];

/**
 * The kind of payload: a Schnorr public key (32 bytes), an ECDSA public key (33), the hash of a
 * script (32).
 */
export const ADDRESS_VERSION = { pubKey: 0, pubKeyEcdsa: 1, scriptHash: 8 } as const;
export type AddressVersion = (typeof ADDRESS_VERSION)[keyof typeof ADDRESS_VERSION];

export interface Address {
  prefix: AddressPrefix;
  version: AddressVersion;
  payload: Uint8Array;
}

export type AddressErrorReason =
  | 'missing-prefix'
  | 'unknown-prefix'
  | 'bad-character'
  | 'bad-checksum'
  | 'bad-padding'
  | 'unknown-version'
  | 'bad-length';

export class AddressError extends Error {
  override name = 'AddressError';
  readonly reason: AddressErrorReason;

  constructor(reason: AddressErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export const PAYLOAD_BYTES: Readonly<Record<AddressVersion, number>> = { 0: 32, 1: 33, 8: 32 };
const BITS_PER_DIGIT = 5;
const CHARACTER_CODES = Buffer.from('qpzry9x8gf2tvdw0s3jn54khce6mua7l');
/** Digits by character code. */
const DIGITS: (number | undefined)[] = [];
for (const [digit, code] of CHARACTER_CODES.entries()) DIGITS[code] = digit;

// Large enough for the longest address.
const digitBuffer = new Uint8Array(Math.ceil((34 * 8) / BITS_PER_DIGIT) + CHECKSUM_DIGITS);
const textBuffer = Buffer.alloc('kaspatest:'.length + digitBuffer.length);

/** @throws AddressError 'bad-length' when the payload does not fit the version */
export function encodeAddress({ prefix, version, payload }: Address): string {
  checkPayload(version, payload);
  const count = writeDigits(version, payload);
  writeChecksum(prefix, digitBuffer, count);
  let length = textBuffer.write(prefix, 'latin1');
  textBuffer[length++] = 0x3a;
  for (let index = 0; index < count + CHECKSUM_DIGITS; index++) {
    textBuffer[length++] = CHARACTER_CODES[digitBuffer[index] ?? 0] ?? 0;
  }
  return textBuffer.toString('latin1', 0, length);
}

/**
 * Writes the bits of version and payload into `digitBuffer`, padded with zeros, and returns the
 * number of digits.
 */
function writeDigits(version: number, payload: Uint8Array): number {
  let pending = version;
  let pendingBits = 8;
  let count = 0;
  for (const byte of payload) {
    pending = ((pending & 255) << 8) | byte;
    pendingBits += 8;
    while (pendingBits >= BITS_PER_DIGIT) {
      pendingBits -= BITS_PER_DIGIT;
      digitBuffer[count++] = (pending >> pendingBits) & 31;
    }
  }
  if (pendingBits > 0) digitBuffer[count++] = (pending << (BITS_PER_DIGIT - pendingBits)) & 31;
  return count;
}

/**
 * Decodes an address of any network; the caller compares the prefix with its own.
 * @throws AddressError
 */
export function decodeAddress(text: string): Address {
  const colon = text.indexOf(':');
  if (colon === -1) throw new AddressError('missing-prefix', 'The address has no prefix');
  const prefix = ADDRESS_PREFIXES.find((known) => known === text.slice(0, colon));
  if (prefix === undefined) throw new AddressError('unknown-prefix', 'The address has an unknown prefix');

  const digits = readDigits(text.slice(colon + 1));
  const count = digits.length - CHECKSUM_DIGITS;
  const checked = digits.slice();
  if (count > 0) writeChecksum(prefix, checked, count);
  if (count <= 0 || Buffer.compare(digits, checked) !== 0) {
    throw new AddressError('bad-checksum', 'The checksum of the address is wrong');
  }
  const bytes = readBytes(digits.subarray(0, count));
  const version = Object.values(ADDRESS_VERSION).find((known) => known === bytes[0]);
  if (version === undefined) throw new AddressError('unknown-version', 'The address has an unknown version');
  const payload = bytes.subarray(1);
  checkPayload(version, payload);
  return { prefix, version, payload };
}

function readDigits(text: string): Uint8Array {
  const digits = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const digit = DIGITS[text.charCodeAt(index)];
    if (digit === undefined) {
      const character = String.fromCodePoint(text.codePointAt(index) ?? 0);
      throw new AddressError('bad-character', `The address contains the invalid character ${character}`);
    }
    digits[index] = digit;
  }
  return digits;
}

function readBytes(digits: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.floor((digits.length * BITS_PER_DIGIT) / 8));
  let pending = 0;
  let pendingBits = 0;
  let count = 0;
  for (const digit of digits) {
    pending = ((pending & 255) << BITS_PER_DIGIT) | digit;
    pendingBits += BITS_PER_DIGIT;
    if (pendingBits >= 8) {
      pendingBits -= 8;
      bytes[count++] = pending >> pendingBits;
    }
  }
  // The padding is shorter than a digit, and zero.
  if (pendingBits >= BITS_PER_DIGIT || (pending & ((1 << pendingBits) - 1)) !== 0) {
    throw new AddressError('bad-padding', 'The padding of the address is not zero');
  }
  return bytes;
}

function checkPayload(version: AddressVersion, payload: Uint8Array): void {
  if (payload.length !== PAYLOAD_BYTES[version]) {
    throw new AddressError('bad-length', `An address of version ${version} cannot have ${payload.length} bytes`);
  }
}
