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
  required: readonly { push: number; value?: string | undefined }[];
}

/**
 * Returns the entries that may apply to a program: those whose required values it has. Values that
 * an entry gives by their hash are not checked here.
 */
export function entriesOf<Entry extends Requiring>(program: Uint8Array, entries: readonly Entry[]): Entry[] {
  if (entries.every(({ required }) => required.length === 0)) return [...entries];
  const values = new Map([...pushesOf(program)].map(({ index, value }) => [index, value]));
  const has = ({ push, value }: Requiring['required'][number]): boolean => {
    const found = values.get(push);
    return value === undefined ? found !== undefined : found !== undefined && hexOf(found) === value;
  };
  return entries.filter(({ required }) => required.every(has));
}
