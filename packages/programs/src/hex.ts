const DIGITS = new TextEncoder().encode('0123456789abcdef');

/**
 * Returns bytes as hex digits. This file and what `script.ts` exports run in browsers, too, where
 * there is no Buffer.
 */
export function hexOf(bytes: Uint8Array): string {
  const digits = new Uint8Array(2 * bytes.length);
  bytes.forEach((byte, index) => {
    digits[2 * index] = DIGITS[byte >> 4] ?? 0;
    digits[2 * index + 1] = DIGITS[byte & 0x0f] ?? 0;
  });
  return new TextDecoder('latin1').decode(digits);
}
