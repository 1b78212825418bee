/** Bytes as hexadecimal text, in the order in which they are stored, and amounts as KAS. */

const HEX = /^(?:[0-9a-f]{2})*$/i;

export class HexError extends Error {
  override name = 'HexError';
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/**
 * Decodes hex digits of either case.
 * @throws HexError on an odd length or any other character
 */
export function fromHex(text: string): Uint8Array {
  // Buffer.from stops silently at the first invalid pair, and accepts some characters beyond ASCII
  // as digits.
  if (!HEX.test(text)) {
    throw new HexError(`Not hexadecimal: ${JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)}`);
  }
  return Buffer.from(text, 'hex');
}

export const SOMPI_PER_KAS = 100_000_000n;
/** The node's `maxSompi`, more than the supply will ever be. */
export const MAX_SOMPI: bigint = 29_000_000_000n * SOMPI_PER_KAS;

const DECIMALS = 8;

/**
 * Formats sompi as an exact decimal number of KAS without trailing zeros: `5`, `0.00000001`,
 * `-12.5`.
 */
export function formatKas(sompi: bigint): string {
  const sign = sompi < 0n ? '-' : '';
  const absolute = sompi < 0n ? -sompi : sompi;
  const fraction = String(absolute % SOMPI_PER_KAS)
    .padStart(DECIMALS, '0')
    .replace(/0+$/, '');
  return `${sign}${absolute / SOMPI_PER_KAS}${fraction === '' ? '' : `.${fraction}`}`;
}
