/** Within the first block of twelve bytes. */
const COUNTER_AT = 4;
const BLOCK_BYTES = 12;
const ROTATIONS = [4, 6, 8, 16, 19, 4];

/**
 * Returns byte strings that differ and have the same hash in Postgres. Anybody can make them: the
 * hash by which Postgres joins and groups (`hash_bytes` in src/common/hashfn.c) has no secret, and
 * the second block of bytes can undo what the first one did to its state.
 * @param template at least 24 bytes; the rest of it stays
 */
export function collidingBytes(count: number, template: Uint8Array): Buffer[] {
  const seed = 0x9e3779b9 + template.length + 3_923_095;
  return Array.from({ length: count }, (_, n) => {
    const bytes = Buffer.from(template);
    bytes.writeUInt32LE(n, COUNTER_AT);
    const word = (index: number): number => (seed + bytes.readUInt32LE(4 * index)) | 0;
    for (const [index, state] of mix(word(0), word(1), word(2)).entries()) {
      bytes.writeInt32LE(-state | 0, BLOCK_BYTES + 4 * index);
    }
    return bytes;
  });
}

/** The macro of the same name there. */
function mix(...words: [number, number, number]): number[] {
  let [a, b, c] = words;
  for (const bits of ROTATIONS) {
    const mixed = (a - c) ^ ((c << bits) | (c >>> (32 - bits)));
    [a, b, c] = [b, (c + b) | 0, mixed | 0];
  }
  return [a, b, c];
}
