/**
 * Tells whether a script pays to a Schnorr public key, as most do: OP_DATA_32, the key and
 * OP_CHECKSIG. Its opcodes need not be parsed.
 */
export function isPublicKeyScript(script: Uint8Array): boolean {
  return script.length === 34 && script[0] === 0x20 && script[33] === 0xac;
}
