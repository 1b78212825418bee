import { readEnvelope, usesOf } from '@kasgres/programs';

/** Whether a program matters even if it was not a covenant that it was revealed for. */
export function isNotable(program: Uint8Array): boolean {
  return usesOf(program) !== 0 || readEnvelope(program) !== undefined;
}
