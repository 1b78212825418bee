/** Compares programs of one template, as far as their bytes are known. */
import { changedPushes, hexOf, pushesOf } from '@kasgres/programs/script';

export interface PushChange {
  push: number;
  before: Uint8Array;
  after: Uint8Array;
}

/**
 * Returns the pushes that differ between two states of a program; undefined if they are programs of
 * different templates.
 */
export function changesBetween(before: Uint8Array, after: Uint8Array): PushChange[] | undefined {
  const changed = changedPushes(before, after);
  if (changed === undefined) return undefined;
  const valuesOf = (program: Uint8Array): Uint8Array[] => {
    const wanted = new Set(changed);
    return [...pushesOf(program)].filter(({ index }) => wanted.has(index)).map(({ value }) => value);
  };
  const [old, now] = [valuesOf(before), valuesOf(after)];
  return changed.map((push, index) => ({
    push,
    before: old[index] ?? new Uint8Array(),
    after: now[index] ?? new Uint8Array(),
  }));
}

/** Returns the numbers of the pushes that differ in any of the other programs of the template. */
export function varyingPushes(program: Uint8Array, others: readonly Uint8Array[]): Set<number> {
  return new Set(others.flatMap((other) => changedPushes(program, other) ?? []));
}

interface Requiring {
  importedFrom: string;
  required: readonly { push: number; value?: string | undefined; hash?: string | undefined }[];
}

/**
 * Returns the entries that apply to a program, which has their required values: of each file, those
 * with the most.
 */
export async function entriesOf<Entry extends Requiring>(
  program: Uint8Array,
  entries: readonly Entry[],
): Promise<Entry[]> {
  const constants = entries.flatMap(({ required }) => required);
  const values = constants.length === 0 ? [] : [...pushesOf(program)].map(({ value }) => value);
  const hashOf = constants.some(({ hash }) => hash !== undefined) ? await loadHash() : undefined;
  const has = ({ push, value, hash }: Requiring['required'][number]): boolean => {
    const found = values[push];
    if (found === undefined) return false;
    return hash === undefined ? hexOf(found) === value : hashOf?.(found) === hash;
  };
  const applying = entries.filter(({ required }) => required.every(has));
  const most = new Map<string, number>();
  for (const { importedFrom, required } of applying) {
    most.set(importedFrom, Math.max(most.get(importedFrom) ?? 0, required.length));
  }
  return applying.filter(({ importedFrom, required }) => required.length === most.get(importedFrom));
}

/** Loads BLAKE2b-256, which few pages need. */
async function loadHash(): Promise<(bytes: Uint8Array) => string> {
  const { blake2b } = await import('@noble/hashes/blake2.js');
  return (bytes) => hexOf(blake2b(bytes, { dkLen: 32 }));
}
