/**
 * Parents of levels 1 and up, run-length packed (comment on blocks.parents_by_level): neighbouring
 * levels mostly have the same parents. A run is u16 LE levels, u16 LE parents, then the parents'
 * hashes.
 */
import type { Hash } from '@kasgres/kaspa';

const HASH_BYTES = 32;
const MAX_LEVELS = 0xffff;

/** @param levels one list of hashes a level, from level 1 */
export function packParents(levels: readonly Hash[][]): Buffer {
  const parts: Uint8Array[] = [];
  for (let first = 0; first < levels.length; ) {
    const parents = levels[first] as Hash[];
    let end = first + 1;
    while (end < levels.length && end - first < MAX_LEVELS && equal(levels[end] as Hash[], parents)) end += 1;
    const head = Buffer.allocUnsafe(4);
    head.writeUInt16LE(end - first, 0);
    head.writeUInt16LE(parents.length, 2);
    parts.push(head, ...parents);
    first = end;
  }
  return Buffer.concat(parts);
}

/** Reverses packParents. */
export function unpackParents(packed: Uint8Array): Hash[][] {
  const levels: Hash[][] = [];
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  for (let at = 0; at < packed.length; ) {
    const count = view.getUint16(at, true);
    const size = view.getUint16(at + 2, true);
    at += 4;
    const parents = Array.from({ length: size }, (_, i) =>
      packed.subarray(at + i * HASH_BYTES, at + (i + 1) * HASH_BYTES),
    );
    at += size * HASH_BYTES;
    for (let i = 0; i < count; i += 1) levels.push(parents);
  }
  return levels;
}

function equal(a: readonly Hash[], b: readonly Hash[]): boolean {
  return a.length === b.length && a.every((hash, i) => Buffer.compare(hash, b[i] as Hash) === 0);
}
