import { readFileSync } from 'node:fs';
import type { Hash } from '@kasgres/kaspa';
import { kccTemplateHash, readTemplateNames, stateOf, TEMPLATE_NAMES_FILE, TemplateNameBook } from '@kasgres/programs';

let book: TemplateNameBook | undefined;

/**
 * Returns KCC-1's template hash of a program whose state is known from the published names. Names
 * that are imported later do not change it.
 */
export function knownKccTemplate(program: Uint8Array, template: Hash | undefined): Hash | undefined {
  if (template === undefined) return undefined;
  book ??= new TemplateNameBook(readTemplateNames(readFileSync(TEMPLATE_NAMES_FILE, 'utf8')).templates);
  const named = book.find(program, template);
  const state = named === undefined ? undefined : stateOf(program, named);
  return state && kccTemplateHash(program, state);
}
